"""Teaching: guesses and their score, exercises in Markdown, and what has to hold of a session.

It attaches from outside, by `SessionHooks`, `PanelExtension` and `NotebookExtension`:

* registration what `%load_ext` registers: options, subcommands, files for `--replay`
* magics       the subcommands, and what a cell with `--predict` or an exercise begins with
* panel        what it adds to the panel of a cell
* rows         what the panel shows of it, and its commands (the contract with TypeScript)
* guesses      holds each reply until it is guessed

and stands on

* scoring      a guess of the next call, and what of it was right (pure)
* conditions   what may have to hold at the end, a closed set (pure)
* sentences    how each of these is written, and read (pure)
* reading      an exercise, read from its Markdown (pure)
* belonging    whether an exercise is about a session (pure)
* scene        what an exercise is held against
* checking     whether what it asks for is so: of calls, of values, of a learner's tool (trying)
* planting     a recording in which calls were made wrong on purpose
* lessons      the exercises of a notebook's folder, and the hints that were given
* showing      an exercise, and how it stands, as Markdown and as text
* proving      whether the exercises of a notebook pass by their own solutions
"""

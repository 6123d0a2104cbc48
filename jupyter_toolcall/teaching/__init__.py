"""Teaching: guesses and their score, and exercises in Markdown that are checked.

It attaches from outside, by `SessionHooks`, `PanelExtension` and `NotebookExtension`:

* registration      what `%load_ext` registers: options, subcommands, files for `--replay`
* magic_commands    the subcommands, and what a cell with `--predict` or an exercise begins with
* teaching_panel    what it adds to the panel of a cell
* panel_rows        what the panel shows of it, and its commands (the contract with TypeScript)
* guesses           holds each reply until it is guessed
* guess_scores      a guess of the next call, and what of it was right (pure)
* exercise_file     the exercises beside a notebook, read from their Markdown
* exercise_checks   evaluates what an exercise checks, on copies
* time_limit        the time limit of a check
* seeded_errors     a recording in which calls are wrong on purpose
* exercise_pages    an exercise, and how it stands, as Markdown and as text
* exercise_proofs   whether the exercises of a notebook pass by their own solutions
"""

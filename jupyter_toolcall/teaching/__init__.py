"""Teaching: guesses and their score, exercises in Markdown, and what a session has to be.

* scoring      a guess of the next call, and what of it was right (pure)
* conditions   what may have to hold at the end, each a sentence (pure)
* reading      an exercise, read from its Markdown (pure)
* checking     whether what an exercise asks for is so (it runs a learner's own tool, no more)
* planting     a recording in which a call was made wrong on purpose
* lessons      the exercises of a notebook's folder, and the hints that were given
* showing      an exercise, and how it stands, as Markdown and as text
* proving      whether the exercises of a notebook pass by their own solutions
"""

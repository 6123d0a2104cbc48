"""The same tasks in several schemes and models, and what each of them cost.

`jupyter toolcall eval TASKS` is made of `tasks` (what a task is, and how a file of them is
read), `ideal_model` (a model that makes no mistake) and `comparison` (runs, tokens, the table).
"""

from .comparison import SCHEMES, Run, compare, table
from .ideal_model import Ideal
from .tasks import Task, tasks_in

__all__ = ["SCHEMES", "Ideal", "Run", "Task", "compare", "table", "tasks_in"]

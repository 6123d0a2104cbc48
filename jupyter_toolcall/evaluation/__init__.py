"""The same tasks in several schemes and models, and what each of them cost.

`jupyter toolcall eval TASKS` is made of what is here: what a task is and how a file of
them is read (`tasks`), a model that makes no mistake (`ideal`), running them (`running`),
tokens and what a cache would serve of them (`counting`), and the table (`table`).
"""

from .ideal import Ideal
from .running import SCHEMES, Run, compare
from .table import table
from .tasks import Task, tasks_in

__all__ = ["SCHEMES", "Ideal", "Run", "Task", "compare", "table", "tasks_in"]

"""The same tasks in several schemes and models, and what each run costs.

It uses the public `Session`, counts calls, turns and tokens, and prints a table. `Ideal` is a
model that follows a plan without mistakes. It compares runs, not branches (`compare`).
"""

from .comparison import SCHEMES, compare
from .ideal_model import Ideal
from .run_table import table
from .task_runs import Run
from .tasks import Task, tasks_in

__all__ = ["SCHEMES", "Ideal", "Run", "Task", "compare", "table", "tasks_in"]

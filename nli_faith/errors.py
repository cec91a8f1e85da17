"""What can go wrong, as one tree.

    NliFaithError            anything this package refuses to do, said in one sentence
    ├── InputError           bad data: what is wrong, where (file, row, column), what to do
    ├── ModelError           a checkpoint that can't be loaded or trusted
    ├── ResumeError          unfinished work that belongs to another input, model or set of options
    ├── DeviceError          a device that is not there, or too small for a single pair
    └── UsageError           options that contradict each other (exit status 2 on the command line)

Messages are whole sentences in the order: what was wrong, where, what was expected, what to do next.
"""


class NliFaithError(Exception):
    """Base of every error this package raises on purpose; `str(error)` is fit to be shown to a person."""


class InputError(NliFaithError):
    """The input can't be read as rows of answers and contexts."""


class ModelError(NliFaithError):
    """The checkpoint is missing, damaged, of an unknown kind, or fails the probe of obvious pairs."""


class ResumeError(NliFaithError):
    """The unfinished work beside the output was made from another input, model, version or option."""


class DeviceError(NliFaithError):
    """The device asked for does not exist, or can't hold even one pair."""


class UsageError(NliFaithError):
    """Options that can't be used together, or a value outside its range."""

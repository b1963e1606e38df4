"""The rules of pickles. All are ours: there is no document."""

from bodymotion.diagnostics import judgement

CONTENT = judgement.error(
    "PKL003",
    "A pickle is a complete dictionary of arrays, numbers and texts, or a dictionary "
    "of such dictionaries, one for each motion.",
    example=("pickle.dumps([1, 2])", "pickle.dumps({'fps': 30, …})"),
)
CODE = judgement.error(
    "PKL004",
    "A pickle holds only numbers, texts, lists, tuples, dictionaries and arrays. "
    "Anything else could run code.",
    "save the arrays with numpy.savez",
    example=("a pickle that calls os.system", "a pickle that calls numpy.dtype"),
)

"""The rules of balancing."""

from bodymotion.diagnostics import judgement

NOT_BALANCED = judgement.warning(
    "BAL101",
    "A balanced motion is nowhere worse than its input. Parts that would be worse stay "
    "as they were.",
    "another `margin`, more time (`max_length`), or other steps may help",
    example=("a walk that no posture balances", "a walk that leans too far"),
)

"""Values as TLC prints them: what of a set, a record or a function has changed."""


def difference(before: str | None, after: str) -> str:
    """The changed value; of a set what it gains and loses, of a record or function the entries that changed."""
    if before is None or not (before.startswith(("{", "[")) and after.startswith(before[0])):
        return after
    old, new = members(before), members(after)
    gained = [member for member in new if member not in old]
    if before.startswith("["):
        return f"[.. {', '.join(gained)}]"
    lost = [member for member in old if member not in new]
    words = [f"gains {', '.join(gained)}"] if gained else []
    words += [f"loses {', '.join(lost)}"] if lost else []
    return " and ".join(words)


def members(value: str) -> list[str]:
    """The members of a set or the entries of a record: the parts between the commas of its outermost bracket."""
    parts = [""]
    depth = 0
    quoted = False
    for sign in value.strip()[1:-1]:
        quoted ^= sign == '"'
        depth += 0 if quoted else (sign in "{[<(") - (sign in "}]>)")
        # The arrow of a record's entry, |->, closes nothing.
        depth += not quoted and sign == ">" and parts[-1].endswith("|-")
        if sign == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]

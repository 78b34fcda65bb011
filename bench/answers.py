"""What the comparisons with other engines take for the same answer."""
import decimal


def same(a, b):
    """Whether two values are equal, numbers but for the last digits."""
    if a == b:
        return True
    try:
        x, y = decimal.Decimal(str(a)), decimal.Decimal(str(b))
    except decimal.InvalidOperation:
        return str(a) == str(b)
    # DuckDB divides in double precision.
    return abs(x - y) <= max(abs(x), abs(y)) * decimal.Decimal("1e-9") + decimal.Decimal("1e-12")

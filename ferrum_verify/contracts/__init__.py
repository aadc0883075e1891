"""Provider contracts: is a catalog sound, and does a change to it break plans?"""

from ferrum_verify.contracts.check import check_contracts
from ferrum_verify.contracts.compare import compare_contracts

__all__ = ["check_contracts", "compare_contracts"]

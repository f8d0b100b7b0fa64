# Enough functions for a hash table of them, where the compiler makes one.
event Stored:
    who: indexed(address)
    what: uint256

v: public(uint256)
owner: public(address)
names: public(HashMap[address, uint256])

@external
def put(a: uint256):
    self.v = a
    log Stored(msg.sender, a)

@external
def more(a: uint256, b: String[40] = "x") -> uint256:
    return a + len(b)

@external
def first(a: uint256) -> uint256:
    return a

@external
def second(a: address) -> bool:
    self.owner = a
    return True

@external
def third(a: bytes32) -> bytes32:
    return a

@external
def fourth(a: uint256, b: uint256, c: uint256) -> uint256:
    return a * b + c

@external
@payable
def __default__():
    pass

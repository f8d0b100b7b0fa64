// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A token from before the standard settled: its name and symbol are bytes32, and it knows no decimals.
contract Relic {
    event Transfer(address indexed from, address indexed to, uint256 value);

    bytes32 public constant name = "Relic of the first days";
    bytes32 public constant symbol = "RELIC";
    uint256 public constant totalSupply = 1_000_000;
    mapping(address => uint256) public balanceOf;

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address to, uint256 value) external {
        require(balanceOf[msg.sender] >= value, "relic: not enough");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

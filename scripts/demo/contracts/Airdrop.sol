// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// Many receivers in one transaction.
contract Airdrop {
    function dropToken(IERC20 token, address[] calldata to, uint256 amount) external {
        for (uint256 i = 0; i < to.length; i++) token.transferFrom(msg.sender, to[i], amount);
    }

    function dropEther(address[] calldata to) external payable {
        for (uint256 i = 0; i < to.length; i++) payable(to[i]).transfer(msg.value / to.length);
    }
}

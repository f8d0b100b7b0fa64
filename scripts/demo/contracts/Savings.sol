// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// An ERC-4626 vault: shares of a pot of dollars.
contract Savings is ERC4626 {
    constructor(IERC20 asset) ERC20("Demo Savings Dollar", "sDUSD") ERC4626(asset) {}
}

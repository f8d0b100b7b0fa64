// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

// Compiled for itself; its admin contract comes with it.
import {TransparentUpgradeableProxy} from "@openzeppelin/contracts/proxy/transparent/TransparentUpgradeableProxy.sol";

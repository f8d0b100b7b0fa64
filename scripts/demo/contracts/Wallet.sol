// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

/// A smart account: as the target of clones (ERC-1167), and as code that an ordinary account delegates to (EIP-7702).
contract Wallet {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    event SafeReceived(address indexed sender, uint256 value);

    address public owner;

    error NotOwner(address caller);

    function init(address owner_) external {
        require(owner == address(0), "wallet: has an owner");
        owner = owner_;
    }

    receive() external payable {
        emit SafeReceived(msg.sender, msg.value);
    }

    function execute(address to, uint256 value, bytes calldata data) external returns (bytes memory) {
        check();
        return forward(to, value, data);
    }

    function executeBatch(Call[] calldata calls) external {
        check();
        for (uint256 i = 0; i < calls.length; i++) forward(calls[i].to, calls[i].value, calls[i].data);
    }

    /// An account that delegates here calls itself.
    function check() private view {
        if (msg.sender != owner && msg.sender != address(this)) revert NotOwner(msg.sender);
    }

    function forward(address to, uint256 value, bytes calldata data) private returns (bytes memory) {
        (bool ok, bytes memory result) = to.call{value: value}(data);
        if (!ok) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        return result;
    }
}

contract Wallets {
    address public immutable target = address(new Wallet());

    event ProxyCreation(address indexed proxy, address singleton);

    function open(bytes32 salt) external payable returns (address wallet) {
        wallet = Clones.cloneDeterministic(target, keccak256(abi.encode(msg.sender, salt)));
        Wallet(payable(wallet)).init(msg.sender);
        emit ProxyCreation(wallet, target);
        if (msg.value > 0) {
            (bool ok,) = wallet.call{value: msg.value}("");
            require(ok, "wallets: wallet refused");
        }
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// ERC-1155 items that holders of a role mint.
contract Items is ERC1155, AccessControl {
    bytes32 public constant MINTER = keccak256("MINTER");

    constructor() ERC1155("https://items.invalid/{id}.json") {
        _grantRole(DEFAULT_ADMIN_ROLE, msg.sender);
        _grantRole(MINTER, msg.sender);
    }

    function mint(address to, uint256 id, uint256 amount) external onlyRole(MINTER) {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external onlyRole(MINTER) {
        _mintBatch(to, ids, amounts, "");
    }

    function setURI(uint256 id, string calldata value) external onlyRole(MINTER) {
        emit URI(value, id);
    }

    function supportsInterface(bytes4 id) public view override(ERC1155, AccessControl) returns (bool) {
        return super.supportsInterface(id);
    }
}

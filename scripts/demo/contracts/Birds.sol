// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An NFT collection that sells out.
contract Birds is ERC721, Ownable {
    uint256 public constant PRICE = 0.05 ether;
    uint256 public immutable supply;
    uint256 public minted;

    error SoldOut(uint256 supply);
    error WrongPrice(uint256 sent, uint256 due);

    constructor(uint256 supply_) ERC721("Demo Birds", "BIRD") Ownable(msg.sender) {
        supply = supply_;
    }

    function mint(uint256 count) external payable {
        if (msg.value != count * PRICE) revert WrongPrice(msg.value, count * PRICE);
        if (minted + count > supply) revert SoldOut(supply);
        for (uint256 i = 0; i < count; i++) _safeMint(msg.sender, ++minted);
    }

    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }

    function withdraw() external onlyOwner {
        (bool ok,) = msg.sender.call{value: address(this).balance}("");
        require(ok, "birds: receiver refused");
    }

    function _baseURI() internal pure override returns (string memory) {
        return "https://birds.invalid/";
    }
}

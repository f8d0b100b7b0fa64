// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Fails in every way there is.
contract Fickle {
    error Moody(address caller, uint256 mood);

    uint256[] private shelf;

    constructor(bool willing) payable {
        require(willing, "fickle: not today");
    }

    function refuse(string calldata why) external pure {
        require(false, why);
    }

    function refuseByError(uint256 mood) external view {
        revert Moody(msg.sender, mood);
    }

    function panic(uint256 i) external view returns (uint256) {
        return shelf[i];
    }

    function burnGas() external {
        while (true) shelf.push(gasleft());
    }

    function invalid() external pure {
        assembly {
            invalid()
        }
    }

    /// The transaction succeeds though a call inside it fails.
    function attempt(uint256 mood) external payable {
        try this.refuseByError(mood) {} catch {}
        try this.panic(mood) {} catch {}
    }
}

/// Can be destroyed, and leaves its ether to a chosen heir.
contract Fuse {
    constructor() payable {}

    function blow(address payable heir) external {
        selfdestruct(heir);
    }
}

/// Lives for one transaction only.
contract Spark {
    constructor(address payable heir) payable {
        Fuse fuse = new Fuse{value: msg.value}();
        fuse.blow(heir);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Events of every shape that no common list of signatures knows; `data/demo-abi.json` is the ABI that decodes them.
contract Harbor {
    struct Leg {
        uint64 eta;
        int32 heading;
    }

    struct Route {
        string start;
        string end;
        Leg[] legs;
    }

    struct Crate {
        address token;
        uint256 amount;
        string label;
    }

    event HarborShipArrived(string indexed name, address indexed captain, string label, int256 drift);
    event HarborCargoLanded(
        uint256 indexed voyage, Crate[] crates, Route route, uint256[] weights, bytes32[2] seals, bool customs
    );
    event HarborLogbook(bytes note, bytes4 code, uint8[3] flags, address[] crew, int8[][] soundings);
    event HarborBerths(uint256[] indexed berths, Leg indexed first, uint256 count);
    event HarborFoghorn(uint256 indexed volume, bytes32 indexed tone, string reason) anonymous;

    function arrive(string calldata name, int256 drift) external {
        emit HarborShipArrived(name, msg.sender, name, drift);
    }

    function land(uint256 voyage, Crate[] calldata crates, Route calldata route, uint256[] calldata weights) external {
        bytes32[2] memory seals = [keccak256(abi.encode(voyage)), bytes32("seal")];
        emit HarborCargoLanded(voyage, crates, route, weights, seals, crates.length > 1);
    }

    function log(bytes calldata note, uint8[3] calldata flags, address[] calldata crew, int8[][] calldata soundings)
        external
    {
        emit HarborLogbook(note, bytes4(keccak256(note)), flags, crew, soundings);
    }

    function assign(uint256[] calldata berths, Leg calldata first) external {
        emit HarborBerths(berths, first, berths.length);
    }

    function sound(uint256 volume, string calldata reason) external {
        emit HarborFoghorn(volume, keccak256(bytes(reason)), reason);
    }

    /// LOG0: no topic at all.
    function whisper(bytes calldata data) external {
        bytes memory copy = data;
        assembly {
            log0(add(copy, 32), mload(copy))
        }
    }

    /// A log under any topic with any data: of an event that nobody published, or broken data under a known one.
    function forge(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        bytes32[] memory t = topics;
        assembly {
            let from := add(copy, 32)
            let size := mload(copy)
            switch mload(t)
            case 1 { log1(from, size, mload(add(t, 32))) }
            case 2 { log2(from, size, mload(add(t, 32)), mload(add(t, 64))) }
            case 3 { log3(from, size, mload(add(t, 32)), mload(add(t, 64)), mload(add(t, 96))) }
            default { log4(from, size, mload(add(t, 32)), mload(add(t, 64)), mload(add(t, 96)), mload(add(t, 128))) }
        }
    }
}

// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import '@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol';
import '@openzeppelin/contracts/token/ERC20/extensions/ERC20Votes.sol';
import '@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol';
import '@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol';
import '@openzeppelin/contracts/token/ERC721/extensions/ERC721Enumerable.sol';
import '@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol';
import '@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Supply.sol';
import '@openzeppelin/contracts/access/AccessControl.sol';
import '@openzeppelin/contracts/access/Ownable2Step.sol';
import '@openzeppelin/contracts/access/manager/AccessManager.sol';
import '@openzeppelin/contracts/governance/TimelockController.sol';
import '@openzeppelin/contracts/proxy/transparent/TransparentUpgradeableProxy.sol';
import '@openzeppelin/contracts/proxy/transparent/ProxyAdmin.sol';
import '@openzeppelin/contracts/proxy/beacon/BeaconProxy.sol';
import '@openzeppelin/contracts/proxy/beacon/UpgradeableBeacon.sol';
import '@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol';
import '@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol';
import '@openzeppelin/contracts/proxy/Clones.sol';
import '@openzeppelin/contracts/finance/VestingWallet.sol';
import '@openzeppelin/contracts/metatx/ERC2771Forwarder.sol';
import 'solady/src/tokens/ERC20.sol' as S20;
import 'solady/src/tokens/ERC721.sol' as S721;
import 'solady/src/tokens/ERC1155.sol' as S1155;
import 'solady/src/tokens/ERC4626.sol' as S4626;
contract Plain is ERC20 { constructor() ERC20('A','A') {} }
contract Permit is ERC20, ERC20Permit, AccessControl { bytes32 public constant MINTER_ROLE = keccak256('MINTER_ROLE');
 constructor() ERC20('A','A') ERC20Permit('A') {} function mint(address to,uint256 n) external onlyRole(MINTER_ROLE) {_mint(to,n);} }
contract Votes20 is ERC20, ERC20Permit, ERC20Votes, ERC20Pausable, Ownable2Step { constructor() ERC20('A','A') ERC20Permit('A') Ownable(msg.sender) {}
 function pause() external onlyOwner {_pause();} function unpause() external onlyOwner {_unpause();}
 function _update(address a,address b,uint256 n) internal override(ERC20,ERC20Votes,ERC20Pausable){super._update(a,b,n);} function nonces(address o) public view override(ERC20Permit,Nonces) returns(uint256){return super.nonces(o);} }
contract Vault is ERC4626 { constructor(IERC20 a) ERC20('V','V') ERC4626(a) {} }
contract Nft is ERC721Enumerable, Ownable { constructor() ERC721('N','N') Ownable(msg.sender) {} function mint(uint256 id) external onlyOwner {_mint(msg.sender,id);} receive() external payable {} }
contract NftUri is ERC721URIStorage { constructor() ERC721('N','N') {} function mint(uint256 id,string calldata u) external {_mint(msg.sender,id); _setTokenURI(id,u);} }
contract Multi is ERC1155Supply { constructor() ERC1155('u') {} function mint(uint256 id,uint256 n) external {_mint(msg.sender,id,n,'');} }
contract Uups is ERC20, UUPSUpgradeable, Ownable { constructor() ERC20('U','U') Ownable(msg.sender) {} function _authorizeUpgrade(address) internal override onlyOwner {} }
contract Lock is TimelockController { constructor(address[] memory a) TimelockController(1,a,a,msg.sender) {} }
contract Factory { event Made(address indexed it); event Named(string name, uint256[] list, bytes32 indexed salt);
 function make() external returns (address) { Nft n = new Nft(); emit Made(address(n)); return address(n);} function clone(address a, string calldata name, uint256[] calldata list) external { emit Made(Clones.clone(a)); emit Named(name, list, 0);} fallback() external payable { emit Made(msg.sender);} }
contract SimpleStore { uint256 public value; event Changed(uint256 value); error Bad(uint256); function set(uint256 v) external { if (v==7) revert Bad(v); value=v; emit Changed(v);} }
contract SPlain is S20.ERC20 { function name() public pure override returns (string memory){return 'a';} function symbol() public pure override returns (string memory){return 'a';} }
contract SVault is S4626.ERC4626 { function name() public pure override returns (string memory){return 'a';} function symbol() public pure override returns (string memory){return 'a';} function asset() public pure override returns(address){return address(1);} }
contract SNft is S721.ERC721 { function name() public pure override returns (string memory){return 'a';} function symbol() public pure override returns (string memory){return 'a';} function tokenURI(uint256) public pure override returns (string memory){return '';} }
contract SMulti is S1155.ERC1155 { function uri(uint256) public pure override returns (string memory){return '';} }
contract VaultFork is Vault { address public keeper; error NotKeeper(); constructor(IERC20 a) Vault(a) { keeper = msg.sender; } function rescue(IERC20 t, uint256 n) external { if (msg.sender != keeper) revert NotKeeper(); t.transfer(keeper, n); } function version() external pure returns (uint256) { return 2; } }
contract NftFork is Nft { string public base; function setBase(string calldata b) external onlyOwner { base = b; } function burn(uint256 id) external { _update(address(0), id, msg.sender); } }

pragma solidity >=0.5.0;
contract Old { mapping(address=>uint256) public balanceOf; mapping(address=>mapping(address=>uint256)) public allowance; uint256 public totalSupply; string public name; address public owner; event Transfer(address indexed from,address indexed to,uint256 value); event Approval(address indexed a,address indexed b,uint256 v); event Said(string what, uint256[] list);
 function transfer(address to,uint256 v) external returns(bool){ require(balanceOf[msg.sender]>=v, 'ERC20: transfer amount exceeds the balance of the sender'); balanceOf[msg.sender]-=v; balanceOf[to]+=v; emit Transfer(msg.sender,to,v); return true;}
 function transferFrom(address f,address to,uint256 v) external returns(bool){ allowance[f][msg.sender]-=v; balanceOf[f]-=v; balanceOf[to]+=v; emit Transfer(f,to,v); return true;}
 function approve(address s,uint256 v) external returns(bool){ allowance[msg.sender][s]=v; emit Approval(msg.sender,s,v); return true;}
 function say(string calldata w, uint256[] calldata l) external { emit Said(w,l);} }
contract Upgrade { bytes32 private constant S = 0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3; event Upgraded(address indexed i); function implementation() public view returns(address i){ bytes32 s=S; assembly { i := sload(s) } } function upgradeTo(address i) external { bytes32 s=S; assembly { sstore(s,i) } emit Upgraded(i);} 

}

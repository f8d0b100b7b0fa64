import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex } from '../../src/chain/wire.ts'
import { createRandom } from '../lib/random.ts'

/** Something that can stand among a log's topics. */
export interface Topic {
  topic: Hex
  /** Its bits of a logs bloom; -1 as long as nobody has asked. */
  topicBits: number
}

export interface MadeEvent extends Topic {
  /** Canonical form, e.g. `Transfer(address,address,uint256)`. */
  signature: string
  indexed: string[]
  data: string[]
}

/** Reads `Name(type indexed, type, …)`, static types alone; for others give the canonical form to `topicOf`. */
export const parseEvent = (text: string): MadeEvent => {
  const [name, list = ''] = text.slice(0, -1).split('(')
  const args = list === '' ? [] : list.split(',').map(arg => arg.trim().split(' '))
  const signature = `${name}(${args.map(([type]) => type).join(',')})`
  const typesOf = (indexed: boolean) => args.filter(arg => (arg[1] === 'indexed') === indexed).map(arg => arg[0]!)
  return { signature, ...topicOf(signature), indexed: typesOf(true), data: typesOf(false) }
}

const topicOf = (signature: string): Topic => ({
  topic: `0x${Buffer.from(keccak_256(Buffer.from(signature))).toString('hex')}`,
  topicBits: -1,
})

/** The thirteen events that most of mainnet's logs are of; Transfer is shared by ERC-20 and ERC-721. */
export const COMMON = {
  transfer: topicOf('Transfer(address,address,uint256)'),
  approval: topicOf('Approval(address,address,uint256)'),
  swapV2: topicOf('Swap(address,uint256,uint256,uint256,uint256,address)'),
  sync: topicOf('Sync(uint112,uint112)'),
  swapV3: topicOf('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  deposit: topicOf('Deposit(address,uint256)'),
  withdrawal: topicOf('Withdrawal(address,uint256)'),
  transferSingle: topicOf('TransferSingle(address,address,address,uint256,uint256)'),
  approvalForAll: topicOf('ApprovalForAll(address,address,bool)'),
  orderFulfilled: topicOf(
    'OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])',
  ),
  mintV2: topicOf('Mint(address,uint256,uint256)'),
  burnV2: topicOf('Burn(address,uint256,uint256,address)'),
} satisfies Record<string, Topic>

/** Events of well-known contracts beside the thirteen, the likely ones first. */
const KNOWN = `
UserOperationEvent(bytes32 indexed, address indexed, address indexed, uint256, bool, uint256, uint256)
Swap(bytes32 indexed, address indexed, int128, int128, uint160, uint128, int24, uint24)
TransferShares(address indexed, address indexed, uint256)
ReserveDataUpdated(address indexed, uint256, uint256, uint256, uint256, uint256)
Staked(address indexed, uint256)
AnswerUpdated(int256 indexed, uint256 indexed, uint256)
OwnershipTransferred(address indexed, address indexed)
Withdrawn(address indexed, uint256)
RewardPaid(address indexed, uint256)
DelegateVotesChanged(address indexed, uint256, uint256)
Supply(address indexed, address, address indexed, uint256, uint16 indexed)
TokenExchange(address indexed, int128, uint256, int128, uint256)
Swap(bytes32 indexed, address indexed, address indexed, uint256, uint256)
Mint(address, address indexed, int24 indexed, int24 indexed, uint128, uint256, uint256)
Burn(address indexed, int24 indexed, int24 indexed, uint128, uint256, uint256)
Collect(address indexed, address, int24 indexed, int24 indexed, uint128, uint128)
Permit(address indexed, address indexed, address indexed, uint160, uint48, uint48)
Withdraw(address indexed, address indexed, address indexed, uint256)
Borrow(address indexed, address, address indexed, uint256, uint8, uint256, uint16 indexed)
Repay(address indexed, address indexed, address indexed, uint256, bool)
AccrueInterest(uint256, uint256, uint256, uint256)
ExecutionSuccess(bytes32, uint256)
SafeReceived(address indexed, uint256)
BeforeExecution()
Upgraded(address indexed)
Initialized(uint8)
Initialized(uint64)
Deposit(address indexed, address indexed, uint256, uint256)
Withdraw(address indexed, address indexed, address indexed, uint256, uint256)
PairCreated(address indexed, address indexed, address, uint256)
PoolCreated(address indexed, address indexed, uint24 indexed, int24, address)
IncreaseLiquidity(uint256 indexed, uint128, uint256, uint256)
DecreaseLiquidity(uint256 indexed, uint128, uint256, uint256)
Collect(uint256 indexed, address, uint256, uint256)
Initialize(uint160, int24)
RoleGranted(bytes32 indexed, address indexed, address indexed)
RoleRevoked(bytes32 indexed, address indexed, address indexed)
DelegateChanged(address indexed, address indexed, address indexed)
NewRound(uint256 indexed, address indexed, uint256)
RewardAdded(uint256)
Submitted(address indexed, uint256, address)
ModifyLiquidity(bytes32 indexed, address indexed, int24, int24, int256, bytes32)
Approval(address indexed, address indexed, address indexed, uint160, uint48)
OrderCancelled(bytes32, address indexed, address indexed)
Flash(address indexed, address indexed, uint256, uint256, uint256, uint256)
NewOwner(bytes32 indexed, bytes32 indexed, address)
NewResolver(bytes32 indexed, address)
AddrChanged(bytes32 indexed, address)
Mint(address, uint256, uint256)
Redeem(address, uint256, uint256)
ProxyCreation(address, address)
AddedOwner(address)
ExecutionFailure(bytes32, uint256)
Rebase(uint256 indexed, uint256)
Paused(address)
Unpaused(address)
AdminChanged(address, address)
FeesCollected(address indexed, uint256)
Claimed(uint256, address, uint256)
Locked(address indexed, uint256)`
  .trim()
  .split('\n')
  .map(parseEvent)

const UNKNOWN = (() => {
  const subjects = [
    'Marlin',
    'Juniper',
    'Quarry',
    'Tallow',
    'Lantern',
    'Osprey',
    'Bramble',
    'Cinder',
    'Hollow',
    'Thistle',
  ]
  const objects = ['Vault', 'Ledger', 'Epoch', 'Ticket', 'Bridge', 'Oracle']
  const verbs = ['Settled', 'Rotated', 'Pledged', 'Harvested']
  const types = ['uint256', 'address', 'uint256', 'bytes32', 'uint128', 'address', 'uint64', 'bool', 'int256', 'uint8']
  const random = createRandom()
  const events: MadeEvent[] = []
  for (const verb of verbs) {
    for (const object of objects) {
      for (const subject of subjects) {
        random.seek(events.length, 0, 0, 0)
        let indexes = 0
        const args = Array.from({ length: 1 + random.below(5) }, () => {
          const type = types[random.below(types.length)]!
          return type !== 'bool' && indexes < 3 && random.unit() < 0.4 && ++indexes > 0 ? `${type} indexed` : type
        })
        events.push(parseEvent(`${subject}${object}${verb}(${args.join(', ')})`))
      }
    }
  }
  return events
})()

/** The 300 events that share what the common ones leave: sixty that registries know, then 240 that they do not. */
export const OTHER: readonly MadeEvent[] = [...KNOWN, ...UNKNOWN]
export const KNOWN_OTHERS = KNOWN.length

/** A function that made-up contracts call of one another. Its arguments are of static types. */
export interface MadeFunction {
  /** Canonical form, e.g. `transfer(address,uint256)`. */
  signature: string
  selector: Hex
  inputs: string[]
  outputs: string[]
}

/** Reads `name(type,…) type …`: behind the arguments the words that it returns. */
const parseFunction = (text: string): MadeFunction => {
  const [signature = '', ...outputs] = text.split(' ')
  const list = signature.slice(signature.indexOf('(') + 1, -1)
  return { signature, selector: selectorOf(signature), inputs: list === '' ? [] : list.split(','), outputs }
}

const selectorOf = (signature: string): Hex =>
  `0x${Buffer.from(keccak_256(Buffer.from(signature))).toString('hex', 0, 4)}`
/** Those that belong to the common events, and what they call in turn; their arguments are made by hand. */
export const CALLED = {
  transfer: selectorOf('transfer(address,uint256)'),
  transferFrom: selectorOf('transferFrom(address,address,uint256)'),
  approve: selectorOf('approve(address,uint256)'),
  permit: selectorOf('permit(address,address,uint256,uint256,uint8,bytes32,bytes32)'),
  balanceOf: selectorOf('balanceOf(address)'),
  getReserves: selectorOf('getReserves()'),
  swapV2: selectorOf('swap(uint256,uint256,address,bytes)'),
  swapV3: selectorOf('swap(address,bool,int256,uint160,bytes)'),
  callbackV3: selectorOf('uniswapV3SwapCallback(int256,int256,bytes)'),
  mintV2: selectorOf('mint(address)'),
  burnV2: selectorOf('burn(address)'),
  deposit: selectorOf('deposit()'),
  withdraw: selectorOf('withdraw(uint256)'),
  safeTransfer721: selectorOf('safeTransferFrom(address,address,uint256)'),
  received721: selectorOf('onERC721Received(address,address,uint256,bytes)'),
  safeTransfer1155: selectorOf('safeTransferFrom(address,address,uint256,uint256,bytes)'),
  approveAll: selectorOf('setApprovalForAll(address,bool)'),
  /** What a revert with a reason returns. */
  error: selectorOf('Error(string)'),
} satisfies Record<string, Hex>

/** What contracts ask others beside balances, the likely ones first. */
export const VIEWS: readonly MadeFunction[] = `
allowance(address,address) uint256
totalSupply() uint256
getReserves() uint112 uint112 uint48
slot0() uint160 int24 uint16 uint16 uint16 uint8 bool
decimals() uint8
owner() address
latestRoundData() uint64 uint256 uint48 uint48 uint64
token0() address
token1() address
getPair(address,address) address
nonces(address) uint256
ownerOf(uint256) address
isApprovedForAll(address,address) bool
liquidity() uint128
getAssetPrice(address) uint256
convertToAssets(uint256) uint256
paused() bool
fee() uint24
implementation() address
hasRole(bytes32,address) bool
getUserAccountData(address) uint256 uint256 uint256 uint256 uint256 uint256
latestAnswer() uint256
exchangeRateStored() uint256
get_virtual_price() uint256
asset() address`
  .trim()
  .split('\n')
  .map(parseFunction)
/** What contracts have others do, the likely ones first. */
export const DEEDS: readonly MadeFunction[] = `
mint(address,uint256)
burn(uint256)
burn(address,uint256)
deposit(uint256,address) uint256
withdraw(uint256,address,address) uint256
accrueInterest() uint256
supply(address,uint256,address,uint16)
borrow(address,uint256,uint256,uint16,address)
repay(address,uint256,uint256,address) uint256
redeem(uint256) uint256
exchange(int128,int128,uint256,uint256) uint256
getReward()
stake(uint256)
claim(address)
harvest()
notifyRewardAmount(uint256)
collect(address,uint256)
increaseAllowance(address,uint256) bool
updateState() bool
skim(address)
poke(address,uint256)
transferOwnership(address)`
  .trim()
  .split('\n')
  .map(parseFunction)
export const UNKNOWN_SELECTORS: readonly Hex[] = Array.from(
  { length: 2000 },
  (_, i) => `0x${(Math.imul(i + 7, 0x7feb352d) >>> 0).toString(16).padStart(8, '0')}`,
)

import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex } from '../../src/chain/wire.ts'
import { createRandom } from './random.ts'

/** Something that can stand among a log's topics. */
export interface Topic {
  topic: Hex
  /** Its bits of a logs bloom; -1 as long as nobody has asked. */
  topicBits: number
}

export interface MadeEvent extends Topic {
  /** Canonical form, e.g. `Transfer(address,address,uint256)`. */
  signature: string
  /** Types of the indexed arguments, in order. */
  indexed: string[]
  /** Types of the others, in order. */
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

/** Names that no registry has. */
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

import { lazy } from '../lib/caches.ts'
import { keccakHex } from '../lib/keccak.ts'
import { EVM, endsRun, findReachable, jumpTargets, metadataStart, nextOf, pushed } from './bytecode.ts'
import { explore, type MachineValue } from './machine.ts'

export type ProxyKind =
  | 'EIP-1167'
  | 'EIP-1967'
  | 'EIP-1967 beacon'
  | 'EIP-1822'
  | 'EIP-897'
  | 'Safe proxy'
  | 'Diamond'
  | 'EIP-7702'

export interface CodeAnalysis {
  /** Selectors that the dispatcher compares: lower-case 0x + 8 digits, ascending, distinct. */
  selectors: string[]
  /** Pushed 32-byte words that may be first topics of events: lower-case, ascending, distinct. */
  topics: string[]
  /** Standard that it implements, such as ERC-20, ERC-721 (NFT) or ERC-1155; null: none known. */
  standard: string | null
  proxy: {
    kind: ProxyKind
    /** Address that the code itself names, in lower case: of clones, and of EIP-7702. */
    target: string | null
  } | null
}

export const analyzeCode = (hex: string): CodeAnalysis => {
  const designated = designatedBy(hex)
  if (designated !== null)
    return { selectors: [], topics: [], standard: 'EIP-7702', proxy: { kind: 'EIP-7702', target: designated } }

  const program = readProgram(hex)
  const selectors = [...program.selectors]
    .sort((a, b) => a - b)
    .map(selector => `0x${selector.toString(16).padStart(8, '0')}`)
  const own = new Set(selectors)
  const proxy = proxyOf(program.delegates, own)
  return { selectors, topics: topicsOf(program), standard: standardOf(own) ?? proxy?.kind ?? null, proxy }
}

const designatedBy = (hex: string): string | null =>
  /^0xef0100[0-9a-f]{40}$/i.test(hex) ? `0x${hex.slice(8).toLowerCase()}` : null

const hashOf = (text: string): bigint => BigInt(keccakHex(text))

export const IMPLEMENTATION = hashOf('eip1967.proxy.implementation') - 1n
export const PROXIABLE = hashOf('PROXIABLE')

const proxyOf = (delegates: readonly MachineValue[], own: ReadonlySet<string>): CodeAnalysis['proxy'] => {
  for (const to of delegates) {
    const kind = proxyKindOf(to, own)
    if (kind !== null) return { kind, target: typeof to === 'bigint' ? `0x${to.toString(16).padStart(40, '0')}` : null }
  }
  return null
}

/** A contract with more functions of its own forwards unknown calls, and is not merely a proxy. */
const MAX_OWN = 16
/** Lower addresses are precompiled contracts. */
const FIRST_ADDRESS = 0x10000n

const proxyKindOf = (to: MachineValue, own: ReadonlySet<string>): ProxyKind | null => {
  if (own.size > MAX_OWN) return null
  if (typeof to === 'bigint') return to >= FIRST_ADDRESS && to < 1n << 160n ? 'EIP-1167' : null
  if (to.kind === 'returned') return 'EIP-1967 beacon'
  if (to.kind === 'stored') {
    if (to.slot === null) return 'Diamond'
    if (to.slot === IMPLEMENTATION) return 'EIP-1967'
    if (to.slot === PROXIABLE) return 'EIP-1822'
    if (to.slot === 0n && own.has(selectorOfText('masterCopy()'))) return 'Safe proxy'
  }
  return own.has(selectorOfText('implementation()')) ? 'EIP-897' : null
}

const ERC20 = [
  'totalSupply()',
  'balanceOf(address)',
  'transfer(address,uint256)',
  'transferFrom(address,address,uint256)',
  'approve(address,uint256)',
  'allowance(address,address)',
]

/** Required functions by standard; the first match wins, since vault shares are tokens, too. */
const STANDARDS: Readonly<Record<string, readonly string[]>> = {
  'ERC-4626': [
    ...ERC20,
    'asset()',
    'totalAssets()',
    'convertToShares(uint256)',
    'convertToAssets(uint256)',
    'deposit(uint256,address)',
    'mint(uint256,address)',
    'withdraw(uint256,address,address)',
    'redeem(uint256,address,address)',
  ],
  'ERC-20': ERC20,
  'ERC-721': [
    'balanceOf(address)',
    'ownerOf(uint256)',
    'approve(address,uint256)',
    'getApproved(uint256)',
    'setApprovalForAll(address,bool)',
    'isApprovedForAll(address,address)',
    'transferFrom(address,address,uint256)',
    'safeTransferFrom(address,address,uint256)',
    'safeTransferFrom(address,address,uint256,bytes)',
  ],
  'ERC-1155': [
    'balanceOf(address,uint256)',
    'balanceOfBatch(address[],uint256[])',
    'setApprovalForAll(address,bool)',
    'isApprovedForAll(address,address)',
    'safeTransferFrom(address,address,uint256,uint256,bytes)',
    'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
  ],
  Safe: [
    'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
    'getOwners()',
    'getThreshold()',
    'isOwner(address)',
    'nonce()',
  ],
  Diamond: ['facets()', 'facetFunctionSelectors(address)', 'facetAddresses()', 'facetAddress(bytes4)'],
}

export const selectorOfText = (signature: string): string => keccakHex(signature).slice(0, 10)

const required = lazy(() =>
  Object.entries(STANDARDS).map(([name, functions]) => ({ name, selectors: functions.map(selectorOfText) })),
)

const standardOf = (own: ReadonlySet<string>): string | null =>
  required().find(({ selectors }) => selectors.every(selector => own.has(selector)))?.name ?? null

/**
 * Words that reach a LOG as its first topic, each followed from the start of the block that pushes
 * it. One that is still on its way when the steps run out counts: other constants are stored or
 * compared at once.
 */
const topicsOf = ({ code, targets, instructions }: Program): string[] => {
  const topics = new Set<bigint>()
  let leader = 0
  let ended = false
  let left = ALL_TOPICS_STEPS
  for (const at of instructions) {
    const opcode = code[at]!
    if (ended || opcode === EVM.JUMPDEST) leader = at
    ended = opcode === EVM.JUMPI || endsRun(opcode)
    const word = wordAt(code, at)
    if (word === null || topics.has(word)) continue
    if (left <= 0) break
    let logged = false
    const steps = explore(code, targets, leader, TOPIC_STEPS, {
      logs: topic => {
        logged ||= topic === word
      },
      worth: stack => stack.includes(word),
      done: () => logged,
    })
    left -= steps
    if (logged || steps >= TOPIC_STEPS) topics.add(word)
  }
  return [...topics].sort((a, b) => (a < b ? -1 : 1)).map(word => `0x${word.toString(16).padStart(64, '0')}`)
}

const TOPIC_STEPS = 200
/** Steps for all words of a code together: the largest contracts need a third of them. */
const ALL_TOPICS_STEPS = 20_000
/** Distinct bytes of a 32-byte hash; one in some 10^7 has fewer. */
const MIN_DISTINCT_BYTES = 20

/** The hash that an instruction pushes or, where solc saves size, copies from after the code. */
const wordAt = (code: Uint8Array, at: number): bigint | null => {
  const opcode = code[at]!
  let word: bigint
  if (opcode >= EVM.PUSH30 && opcode <= EVM.PUSH32) word = pushed(code, at)
  else if (opcode === EVM.PUSH2 && code[at - 2] === EVM.PUSH1 && code[at - 1] === 32) {
    const from = Number(pushed(code, at))
    if (from + 32 > code.length) return null
    if (code[nextOf(code, at + 3)] !== EVM.CODECOPY) return null
    word = BigInt(`0x${Buffer.from(code.subarray(from, from + 32)).toString('hex')}`)
  } else return null
  const bytes = new Set(word.toString(16).padStart(64, '0').match(/../g))
  return bytes.size < MIN_DISTINCT_BYTES ? null : word
}

export interface Program {
  code: Uint8Array
  targets: Uint8Array
  instructions: number[]
  selectors: Set<number>
  delegates: MachineValue[]
}

/** Budget of steps to find functions; the largest contracts need some thousand. */
const DISPATCH_STEPS = 20_000
export const readProgram = (hex: string): Program => {
  const code = new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
  const targets = jumpTargets(code, metadataStart(code))
  const selectors = new Set<number>()
  const delegates: MachineValue[] = []
  let hashes = false
  explore(code, targets, 0, DISPATCH_STEPS, {
    selectors: list => {
      for (const selector of list) selectors.add(selector)
    },
    delegates: to => delegates.push(to),
    hashes: () => {
      hashes = true
    },
  })
  // If jump destinations are in tables, no instruction pushes them.
  const entries = [0]
  if (hashes) for (const [at, isTarget] of targets.entries()) if (isTarget === 1) entries.push(at)
  return { code, targets, instructions: findReachable(code, targets, entries), selectors, delegates }
}

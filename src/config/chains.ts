import { memoize } from '../lib/caches.ts'
import type { NetworkConfig } from './index.ts'

/** Settings of a chain that its short name implies. */
export interface Chain {
  /** Name of the network. */
  network: string
  /** EIP-155. */
  id: number
  /** Symbol of the native unit. */
  symbol: string
  /** Milliseconds between blocks. */
  blockMs: number
  /** Depth of the deepest reorganisation that is to be expected, in blocks, with room to spare. */
  finality: number
  /** Its blocks do not keep Ethereum's rule for logs blooms. */
  skipBloom?: true
  /** Methods for traces that public nodes of it have. */
  traces: 'trace_block' | 'debug_traceBlockByNumber' | 'none'
  /** Differences, as sentences for the docs. */
  quirks: string
}

const OP = 'Deposits are transactions of type 0x7e. Receipts include fees for the parent chain.'
const ORBIT = 'Types 0x64 to 0x6a. Each block begins with a transaction of the chain itself (0x6a).'
const ZK = 'Types 0x71 and 0xff. Blooms are zero or incomplete. Batches are reported once they are on the parent chain.'

const op = (network: string, id: number, blockMs: number, more: Partial<Chain> = {}): Chain => ({
  ...{ network, id, symbol: 'ETH', blockMs, finality: 64, traces: 'debug_traceBlockByNumber', quirks: OP },
  ...more,
})

/** By short names, which `--network` takes. */
export const KNOWN_CHAINS: ReadonlyMap<string, Chain> = new Map<string, Chain>([
  [
    'ethereum',
    {
      ...{ network: 'ethereum/ethereum/mainnet', id: 1, symbol: 'ETH', blockMs: 12_000, finality: 64 },
      ...{ traces: 'trace_block', quirks: '' },
    },
  ],
  [
    'sepolia',
    {
      ...{ network: 'ethereum/ethereum/sepolia', id: 11_155_111, symbol: 'ETH', blockMs: 12_000, finality: 64 },
      ...{ traces: 'trace_block', quirks: '' },
    },
  ],
  ['optimism', op('ethereum/optimism/mainnet', 10, 2_000)],
  ['base', op('ethereum/base/mainnet', 8_453, 2_000)],
  ['base-sepolia', op('ethereum/base/sepolia', 84_532, 2_000)],
  ['blast', op('ethereum/blast/mainnet', 81_457, 2_000)],
  ['unichain', op('ethereum/unichain/mainnet', 130, 1_000)],
  ['world', op('ethereum/world/mainnet', 480, 2_000)],
  [
    'celo',
    op('ethereum/celo/mainnet', 42_220, 1_000, {
      symbol: 'CELO',
      quirks: `${OP} Fees may be paid in tokens (types 0x7b, 0x7c). Blocks before 31,056,500 are of its own chain, and may have fewer members.`,
    }),
  ],
  [
    'arbitrum',
    {
      ...{ network: 'ethereum/arbitrum/mainnet', id: 42_161, symbol: 'ETH', blockMs: 250, finality: 256 },
      ...{ traces: 'debug_traceBlockByNumber', quirks: ORBIT },
    },
  ],
  [
    'zksync',
    {
      ...{ network: 'ethereum/zksync/mainnet', id: 324, symbol: 'ETH', blockMs: 200, finality: 1_024 },
      ...{ skipBloom: true, traces: 'debug_traceBlockByNumber', quirks: ZK },
    },
  ],
  [
    'polygon',
    {
      ...{
        network: 'ethereum/polygon/mainnet',
        id: 137,
        symbol: 'POL',
        blockMs: 2_000,
        finality: 512,
        skipBloom: true,
      },
      traces: 'debug_traceBlockByNumber',
      quirks:
        'Every 16th block or so has a state-sync transaction of the chain itself, whose logs are not in the bloom. Reorganisations may be deep.',
    },
  ],
  [
    'bnb',
    {
      ...{ network: 'ethereum/bnb/mainnet', id: 56, symbol: 'BNB', blockMs: 750, finality: 128 },
      ...{
        traces: 'debug_traceBlockByNumber',
        quirks: 'The last transactions of a block are the chain’s own and cost nothing.',
      },
    },
  ],
  [
    'gnosis',
    {
      ...{ network: 'ethereum/gnosis/mainnet', id: 100, symbol: 'xDAI', blockMs: 5_000, finality: 64 },
      ...{ traces: 'trace_block', quirks: 'Blocks before the merge have seals of its own.' },
    },
  ],
  [
    'avalanche',
    {
      ...{ network: 'ethereum/avalanche/mainnet', id: 43_114, symbol: 'AVAX', blockMs: 1_500, finality: 64 },
      traces: 'debug_traceBlockByNumber',
      quirks: 'Blocks are final at once. Atomic transactions are in `extra.blockExtraData`, undecoded.',
    },
  ],
  [
    'linea',
    {
      ...{ network: 'ethereum/linea/mainnet', id: 59_144, symbol: 'ETH', blockMs: 2_000, finality: 64 },
      ...{ traces: 'debug_traceBlockByNumber', quirks: '' },
    },
  ],
  [
    'scroll',
    {
      ...{ network: 'ethereum/scroll/mainnet', id: 534_352, symbol: 'ETH', blockMs: 3_000, finality: 64 },
      traces: 'debug_traceBlockByNumber',
      quirks: 'Messages of the parent chain are transactions of type 0x7e with `queueIndex`.',
    },
  ],
])

/** A network by its name or by the short name of its chain. */
export const fullName = (network: string): string => KNOWN_CHAINS.get(network)?.network ?? network

/** A known chain by the name of its network. */
const chainNamed = (network: string): Chain | undefined =>
  [...KNOWN_CHAINS.values()].find(chain => chain.network === network)

const USUAL_DEPTH = 64

/** The setting `finality` as a depth, which is used if nodes report no finalized block. */
export const depthOfChain = (
  network: string,
  finality: number | 'finalized',
): { finality: number; toFinalized?: true } => {
  if (finality !== 'finalized') return { finality }
  return { finality: chainNamed(network)?.finality ?? USUAL_DEPTH, toFinalized: true }
}

/** URL parameters by their names. */
type ParameterPairs = readonly (readonly [name: string, value: string])[]

/**
 * URL parameters that requests have by default: in which form a network shows values, or what all
 * networks of a comma-separated list have in common.
 */
export const createDefaultParameters = (
  networks: readonly Pick<NetworkConfig, 'network' | 'currency' | 'flatArgs'>[],
): ((names: string) => ParameterPairs) => {
  const formOf = (name: string) => {
    const { currency = usualCurrency(name), flatArgs = false } = networks.find(it => it.network === name) ?? {}
    return { eth: currency?.toUpperCase() === 'ETH', flatArgs }
  }
  return memoize(MOST_DEFAULTS, names => {
    const forms = names.split(',').map(formOf)
    return [
      ...(forms.every(({ flatArgs }) => flatArgs) ? [['args', 'flat'] as const] : []),
      ...(forms.every(({ eth }) => eth) ? [['eth', 'true'] as const] : []),
    ]
  })
}

const LOCAL_CHAINS = /^ethereum\/(?:demo|dev)\//

/** Symbols of native currencies: as configured, or as the chain is known. */
export const createCurrencies =
  (networks: readonly Pick<NetworkConfig, 'network' | 'currency'>[]) =>
  (name: string): string =>
    networks.find(it => it.network === name)?.currency ??
    usualCurrency(name) ??
    (LOCAL_CHAINS.test(name) ? 'ETH' : 'coins')

/** Networks, and lists of several, that are kept. */
const MOST_DEFAULTS = 1_000

const usualCurrency = (network: string): string | undefined =>
  chainNamed(network)?.symbol ?? (network.split('/')[1] === 'ethereum' ? 'ETH' : undefined)

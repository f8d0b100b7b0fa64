import * as v from 'valibot'
import {
  anyRecord,
  anything,
  arrayOf,
  choiceOf,
  described,
  extensible,
  filled,
  flag,
  int,
  mapOf,
  may,
  num,
  type Of,
  orNull,
  ranges,
  str,
  strict,
  timestamp,
  unionOf,
} from './values.ts'

/** Shapes of the endpoints that manage a server. */

const account = strict({
  account: str,
  token: strict({
    ...{ id: int, hint: orNull(str), scopes: arrayOf(str) },
    ...{ createdAt: orNull(timestamp), expiresAt: orNull(timestamp) },
    rate: described('Requests in a minute, where the token has a limit of its own.', orNull(int)),
  }),
  limits: described('Counts, bytes and milliseconds, by the names of limits.', mapOf(int)),
  server: strict({
    version: str,
    features: arrayOf(choiceOf(['search', 'abis', 'rules', 'metrics'])),
    // `indexed`: a node brings new blocks. `traces`: requested kinds; null without a node.
    networks: arrayOf(strict({ network: str, indexed: flag, traces: orNull(choiceOf(['all', 'calls', 'off'])) })),
  }),
})

/** Oldest first. */
const samples = arrayOf(
  strict({
    ...{ at: timestamp, head: orNull(int), top: orNull(int), lag: orNull(int) },
    ...{ blocksPerSecond: orNull(num), eventsPerSecond: orNull(num), secondsLeft: orNull(num) },
  }),
)
const rates = strict({ everyMs: int, networks: arrayOf(strict({ network: str, samples })) })

const storage = strict({
  network: str,
  state: choiceOf(['measuring', 'measured', 'failed']),
  ...{ measuredAt: orNull(timestamp), tookMs: orNull(int), error: orNull(str) },
  // Last measurement: file, write-ahead log and free pages; gaps are between ranges.
  storage: orNull(
    strict({
      ...{ bytes: int, log: int, free: int, ranges, gaps: ranges },
      parts: arrayOf(strict({ part: str, what: str, bytes: int, share: num, rows: orNull(int) })),
    }),
  ),
})

/** Without an address and a code hash, it applies to every contract that it fits. */
const abiEntries = {
  ...{ id: str, name: str, network: orNull(str), address: orNull(str), codeHash: orNull(str) },
  // `probability`: 1 for an ABI, less for a list of signatures; counts are null for a long list.
  ...{ probability: num, events: orNull(int), functions: orNull(int), errors: orNull(int) },
  ...{ bytes: int, addedAt: timestamp },
}
const abi = strict(abiEntries)
const wholeAbi = strict({ ...abiEntries, abi: arrayOf(anyRecord) })
const anyList = arrayOf(anything)
const someAbi = unionOf([anyList, extensible({ abi: anyList })])

const redecoding = strict({
  ...{ id: str, network: str, abi: str, name: orNull(str), askedAt: timestamp },
  state: choiceOf(['waiting', 'running', 'stopping']),
  // Newest block left to search; null before the first step.
  ...{ nextBlock: orNull(int), blocksLeft: orNull(int) },
})

const decoder = strict({
  ...abiEntries,
  source: choiceOf(['address', 'codeHash', 'implementation', 'any']),
  of: orNull(str),
})
const abiOfAddress = strict({
  ...{ network: str, address: str },
  source: orNull(choiceOf(['address', 'codeHash', 'implementation', 'similar', 'signatures'])),
  ...{ name: orNull(str), probability: orNull(num), codeHash: orNull(str) },
  implementations: arrayOf(strict({ address: str, codeHash: orNull(str), through: orNull(str) })),
  abis: arrayOf(decoder),
})

const newAbi = extensible({ abi: someAbi, name: may(str), network: may(str), address: may(str), codeHash: may(str) })

/** A short list of texts; `of` names them. */
const filledTexts = (of: string) => {
  const what = `a list of 1 to 1000 ${of}`
  return v.pipe(
    v.array(filled(), what),
    v.check(list => list.length > 0 && list.length <= 1_000, what),
  )
}
export const newRedecodings = strict({
  abis: filledTexts('ids of ABIs, as GET /abis/ lists them'),
  networks: may(filledTexts('networks')),
})

export const MANAGEMENT_SHAPES = {
  Account: account,
  Rates: rates,
  Storage: storage,
  Abi: abi,
  WholeAbi: wholeAbi,
  NewAbis: described(
    'A JSON ABI, an artifact of Foundry or Hardhat, or several.',
    unionOf([anyList, extensible({ abi: anyList }), extensible({ abis: arrayOf(newAbi) }), anyRecord]),
  ),
  NewAbi: newAbi,
  NewRedecodings: newRedecodings,
  Redecoding: redecoding,
  AbiOfAddress: abiOfAddress,
}

export type AccountAnswer = Of<typeof account>
export type ServedNetwork = Of<typeof account>['server']['networks'][number]
export type RatesAnswer = Of<typeof rates>
type NetworkRates = RatesAnswer['networks'][number]
export type RateSample = NetworkRates['samples'][number]
export type StorageAnswer = Of<typeof storage>
export type AbiAnswer = Of<typeof abi>
export type WholeAbiAnswer = Of<typeof wholeAbi>
export type RedecodingAnswer = Of<typeof redecoding>
export type AbiOfAddress = Of<typeof abiOfAddress>

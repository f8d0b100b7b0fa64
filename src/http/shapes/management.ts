import * as v from 'valibot'
import {
  anyOf,
  anything,
  closed,
  described,
  filled,
  flag,
  listOf,
  mapOf,
  may,
  number,
  type Of,
  object,
  oneOf,
  open,
  orNull,
  ranges,
  text,
  time,
  whole,
} from './values.ts'

/** By what operators and tools manage a server. */

const account = closed({
  account: text,
  token: closed({
    ...{ id: whole, hint: orNull(text), scopes: listOf(text) },
    ...{ createdAt: orNull(time), expiresAt: orNull(time) },
    rate: described('Requests in a minute, where the token has a limit of its own.', orNull(whole)),
  }),
  limits: described('Counts, bytes and milliseconds, by the names of limits.', mapOf(whole)),
  server: closed({
    version: text,
    features: listOf(oneOf(['search', 'abis', 'rules', 'metrics'])),
    // Whether a node brings new blocks, and which traces it is asked for; null where there is no node.
    networks: listOf(closed({ network: text, indexed: flag, traces: orNull(oneOf(['all', 'calls', 'off'])) })),
  }),
})

/** The oldest first. */
const samples = listOf(
  closed({
    ...{ at: time, head: orNull(whole), top: orNull(whole), lag: orNull(whole) },
    ...{ blocksPerSecond: orNull(number), eventsPerSecond: orNull(number), secondsLeft: orNull(number) },
  }),
)
const rates = closed({ everyMs: whole, networks: listOf(closed({ network: text, samples })) })

const storage = closed({
  network: text,
  state: oneOf(['measuring', 'measured', 'failed']),
  ...{ measuredAt: orNull(time), tookMs: orNull(whole), error: orNull(text) },
  // What was measured last: of the file, of the log beside it, of pages that nothing is in; gaps are between ranges.
  storage: orNull(
    closed({
      ...{ bytes: whole, log: whole, free: whole, ranges, gaps: ranges },
      parts: listOf(closed({ part: text, what: text, bytes: whole, share: number, rows: orNull(whole) })),
    }),
  ),
})

/** Without an address and a code hash it is for whichever contract it fits. */
const abiEntries = {
  ...{ id: text, name: text, network: orNull(text), address: orNull(text), codeHash: orNull(text) },
  // 1 for an ABI, less for a list of signatures, whose declarations are not counted where it is very long.
  ...{ probability: number, events: orNull(whole), functions: orNull(whole), errors: orNull(whole) },
  ...{ bytes: whole, addedAt: time },
}
const abi = closed(abiEntries)
const wholeAbi = closed({ ...abiEntries, abi: listOf(object) })
const list = listOf(anything)
const someAbi = anyOf([list, open({ abi: list })])

const redecoding = closed({
  ...{ id: text, network: text, abi: text, name: orNull(text), askedAt: time },
  state: oneOf(['waiting', 'running', 'stopping']),
  // The newest block that is still to be looked at; null before the first step.
  ...{ nextBlock: orNull(whole), blocksLeft: orNull(whole) },
})

const decoder = closed({
  ...abiEntries,
  source: oneOf(['address', 'codeHash', 'implementation', 'any']),
  of: orNull(text),
})
const abiOfAddress = closed({
  ...{ network: text, address: text },
  source: orNull(oneOf(['address', 'codeHash', 'implementation', 'similar', 'signatures'])),
  ...{ name: orNull(text), probability: orNull(number), codeHash: orNull(text) },
  implementations: listOf(closed({ address: text, codeHash: orNull(text), through: orNull(text) })),
  abis: listOf(decoder),
})

const newAbi = open({ abi: someAbi, name: may(text), network: may(text), address: may(text), codeHash: may(text) })

/** Some texts, not many; `of` says what they are. */
const texts = (of: string) => {
  const what = `a list of 1 to 1000 ${of}`
  return v.pipe(
    v.array(filled(), what),
    v.check(list => list.length > 0 && list.length <= 1_000, what),
  )
}
export const newRedecodings = closed({
  abis: texts('ids of ABIs, as GET /abis/ lists them'),
  networks: may(texts('networks')),
})

export const MANAGEMENT_SHAPES = {
  Account: account,
  Rates: rates,
  Storage: storage,
  Abi: abi,
  WholeAbi: wholeAbi,
  NewAbis: described(
    'A JSON ABI, an artifact of Foundry or Hardhat, or several.',
    anyOf([list, open({ abi: list }), open({ abis: listOf(newAbi) }), object]),
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

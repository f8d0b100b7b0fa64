/**
 * Keys of the inverted index. A term is value × 2^22 + facet: the facet says in which role a document has the value. Values below 2^30 are
 * dictionary ids; from 2^30 on they are the high part of a 62-bit hash, whose low part is the posting's `mark`. All roles of an
 * address thus lie side by side, and one range of keys holds them.
 */
export const FACETS_PER_VALUE = 2 ** 22
export const HASHED = 2 ** 30

export const termOf = (value: number, facet: number): number => value * FACETS_PER_VALUE + facet
export const facetOf = (term: number): number => term % FACETS_PER_VALUE

/** Facets of documents' own fields. The numbers are stored: they may be added to, never changed. */
export const FACETS = {
  'tx.from': 1,
  'tx.to': 2,
  'tx.contractAddress': 3,
  'tx.hash': 4,
  'block.hash': 5,
  'block.miner': 6,
  /** Logs without a known name, which are no events (value 0). */
  undecoded: 7,
  /** Failed transactions (value 0). */
  failed: 8,
  'tx.method': 9,
  'trace.action.from': 10,
  'trace.action.to': 11,
  'trace.action.address': 12,
  'trace.action.refundAddress': 13,
  'trace.action.author': 14,
  'trace.result.address': 15,
  'trace.error': 16,
  'call.from': 17,
  /** Of calls whose signature is the one that all those share which have none of their own. */
  'call.selector': 18,
} as const

/**
 * Behind the documents' own facets come two ranges. One facet for each signature: with value 0 all logs of the signature, with an address
 * those that it emitted. Then 15 facets for each signature's arguments: 0 … 13 by position, 14 for all further back; of a
 * signature without a declaration, 0 … 2 are the topics behind the first.
 */
const FIRST_LOG_FACET = 64
const SLOTS = 15
/** Signatures that the facets have room for. */
export const SIGNATURES = Math.floor((FACETS_PER_VALUE - FIRST_LOG_FACET) / (SLOTS + 1))
const FIRST_ARGUMENT_FACET = FIRST_LOG_FACET + SIGNATURES
export const OVERFLOW_SLOT = SLOTS - 1

/** In place of the value of an argument that is longer than an index of keywords holds. */
export const TOO_LONG = 0

/** Key of the one signature that all logs share whose own one the dictionary has no room for. */
export const UNLISTED = 'unlisted'
/** The same for calls. */
export const UNLISTED_CALL = 'call/unlisted'

export const logFacet = (signature: number): number => FIRST_LOG_FACET + signature
export const argumentSlot = (pos: number): number => Math.min(pos, OVERFLOW_SLOT)
export const argumentFacet = (signature: number, slot: number): number =>
  FIRST_ARGUMENT_FACET + signature * SLOTS + slot

export const signatureOfLogFacet = (facet: number): number => facet - FIRST_LOG_FACET
export const argumentOf = (facet: number): { signature: number; slot: number } => {
  const place = facet - FIRST_ARGUMENT_FACET
  const signature = Math.floor(place / SLOTS)
  return { signature, slot: place - signature * SLOTS }
}

/** The signature that a facet is of; undefined for one of documents' own. */
export const signatureOfFacet = (facet: number): number | undefined =>
  facet < FIRST_LOG_FACET
    ? undefined
    : facet < FIRST_ARGUMENT_FACET
      ? signatureOfLogFacet(facet)
      : argumentOf(facet).signature

/** First and last term of a value in the role of an emitter (or, for value 0, of all logs), whatever the signature. */
export const logTerms = (value: number): [number, number] => [
  termOf(value, FIRST_LOG_FACET),
  termOf(value, FIRST_ARGUMENT_FACET - 1),
]
/** First and last term of a value in the role of an argument, whatever the signature. */
export const argumentTerms = (value: number): [number, number] => [
  termOf(value, FIRST_ARGUMENT_FACET),
  termOf(value, FACETS_PER_VALUE - 1),
]

/** Keys of `num`: integers and scaled values of an argument. */
export const integersOf = (signature: number, slot: number): number => argumentFacet(signature, slot) * 2
export const scaledOf = (signature: number, slot: number): number => argumentFacet(signature, slot) * 2 + 1

import type { PieceContext } from '../../engine/documents/piece.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import { createHash } from '../../lib/hash.ts'
import { keepLatest } from '../../lib/latest.ts'
import { createSignatures, UNKNOWN_SIGNATURES } from './dictionaries.ts'
import type { JoinedDictionaries } from './shared/dictionaries.ts'

export interface PieceContextOptions extends JoinedDictionaries {
  /** The keys of the store's hashes. */
  hashKeys: readonly [number, number]
  decimals: PieceContext['decimals']
  /** Whether the receipts' logs blooms were found to be those of their logs (`checkBlock`); else that is found out here. */
  bloomsChecked: boolean
  /** Signatures of which unknown ones are kept apart; default three quarters of all there is room for. */
  listedSignatures?: number | undefined
}

/** The context in which any thread builds documents. */
export const createPieceContext = (options: PieceContextOptions): PieceContext => {
  const { addresses, names, signatures, hashKeys, decimals, bloomsChecked } = options
  const { listedSignatures = UNKNOWN_SIGNATURES } = options
  const withId = (digitsFrom: number) =>
    keepLatest(text => ({ text, id: addresses.id(text.slice(digitsFrom).toLowerCase()) }))
  const [ofAddress, ofTopic] = [withId(2), withId(26)]
  return {
    addresses,
    address: text => ofAddress(text).id,
    addressOfTopic: topic => ofTopic(topic).id,
    names,
    signature: createSignatures(signatures, listedSignatures),
    hash: createHash(hashKeys),
    decimals,
    bloom: receipt => (bloomsChecked ? receipt.logsBloom : logsBloomOf(receipt.logs)),
  }
}

import { type BlockContract, contractDocument, type ShownCode } from '../../documents/contracts.ts'
import type { Document } from '../../documents/document.ts'
import type { BlockParts } from '../../documents/logs.ts'
import * as show from '../../documents/show.ts'
import { type TokenStandard, tokenDocument } from '../../documents/tokens.ts'
import { present } from '../../sqlite/damage.ts'
import { valueReader } from '../documents/record-values.ts'
import type { Reader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import { itemsOf } from './sparse.ts'

export interface RowDocumentsOptions {
  reader: Reader
  big: show.BigIntegers
  blockParts(number: number): BlockParts
  /** Of the transaction at a position. */
  transactionHash(position: number): string
}

/** Builds documents of the kinds that are kept as rows: contracts and tokens. */
export const createRowDocuments = ({ reader, big, blockParts, transactionHash }: RowDocumentsOptions) => {
  const readContract = reader
    .prepare('SELECT address, creator, tx, code, implementation, name, abi, probability FROM contract WHERE pos = ?')
    .raw()
  const readToken = reader.prepare('SELECT id, name, symbol, decimals, standard, error FROM token WHERE pos = ?').raw()
  const readCode = reader.prepare('SELECT hash, size, selectors, topics, standard, source FROM code WHERE id = ?').raw()
  const senderOf = valueReader('tx', 'from', reader.records)!
  const address = (id: number): string => show.address(`0x${reader.addressDigits(id)}`)
  const text = (id: number | null): string | null => (id === null ? null : reader.name(id))

  const codeAt = (id: number): ShownCode => {
    const [hash, size, selectors, topics, standard, source] = readCode.get(id) as CodeCells
    return {
      hash: `0x${hash.toString('hex')}`,
      size,
      selectors: itemsOf(selectors.toString('hex'), 4),
      topics: itemsOf(topics.toString('hex'), 32),
      standard: text(standard),
      standardSource: text(source) as ShownCode['standardSource'],
    }
  }

  return {
    contract(at: number): Document | undefined {
      const row = readContract.get(at) as ContractRow | undefined
      if (!row) return undefined
      const [addressId, creator, tx, code, implementation, name, source, probability] = row
      const number = blockOf(at)
      const position = positionOf(number, tx)
      const place = {
        block: blockParts(number),
        transactionHash: transactionHash(position),
        origin: address(present(senderOf(position), `transaction ${tx} of block ${number}`) as number),
      }
      const parts = {
        address: address(addressId),
        creator: address(creator),
        code: code === null ? null : codeAt(code),
        implementation: implementation === null ? null : address(implementation),
        abi: { name: text(name), source: text(source) as BlockContract['abi']['source'], probability },
      }
      return contractDocument(place, parts, big)
    },
    token(position: number): Document | undefined {
      const row = readToken.get(position) as TokenRow | undefined
      if (!row) return undefined
      const [id, name, symbol, decimals, standard, error] = row
      const parts = {
        address: address(id),
        name: text(name),
        symbol: text(symbol),
        decimals,
        standard: text(standard) as TokenStandard,
        error: text(error),
      }
      return tokenDocument(blockParts(blockOf(position)), parts, big)
    },
  }
}

type ContractRow = [
  address: number,
  creator: number,
  tx: number,
  code: number | null,
  implementation: number | null,
  name: number | null,
  source: number | null,
  probability: number | null,
]
type TokenRow = [
  id: number,
  name: number | null,
  symbol: number | null,
  decimals: number | null,
  standard: number | null,
  error: number | null,
]
type CodeCells = [
  hash: Buffer,
  size: number,
  selectors: Buffer,
  topics: Buffer,
  standard: number | null,
  source: number | null,
]

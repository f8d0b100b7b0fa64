import { type BlockContract, contractDocument, type ShownCode } from '../../documents/contracts.ts'
import type { Document } from '../../documents/document.ts'
import { type BlockParts, blockParts } from '../../documents/logs.ts'
import { asJson } from '../../documents/show.ts'
import { type TokenStandard, tokenDocument } from '../../documents/tokens.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import { byKind, ROW_KINDS, type RowKind } from '../../mapping/index.ts'
import { compileSourceFilter } from '../../query/hits/source-filter.ts'
import { requirePresent } from '../../sqlite/damage.ts'
import type { ContractColumns } from '../documents/derived-rows.ts'
import { valueReader } from '../documents/record-values.ts'
import { hashOfTx } from '../documents/records/block.ts'
import { writeJson } from '../forms/json.ts'
import { splitHex } from '../query/fields/row-kinds.ts'
import type { StoreReader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import type { ShowContext } from './context.ts'
import type { Show } from './source-writers.ts'

/** Shows contracts and tokens, which are few, through objects. */
export const createRowShows = (context: ShowContext, reader: StoreReader): Record<RowKind, Show> => {
  const readContract = reader
    .prepare('SELECT address, creator, tx, code, implementation, name, abi, probability FROM contract WHERE pos = ?')
    .raw()
  const readToken = reader.prepare('SELECT id, name, symbol, decimals, standard, error FROM token WHERE pos = ?').raw()
  const readCode = reader.prepare('SELECT hash, size, selectors, topics, standard, source FROM code WHERE id = ?').raw()
  const senderOf = valueReader('tx', 'from', reader.records)!
  const address = (id: number): string => checksumAddress(`0x${reader.addressDigits(id)}`)
  const text = (id: number | null): string | null => (id === null ? null : reader.name(id))

  const codeAt = (id: number): ShownCode => {
    const [hash, size, selectors, topics, standard, source] = readCode.get(id) as CodeCells
    return {
      hash: `0x${hash.toString('hex')}`,
      size,
      selectors: splitHex(selectors.toString('hex'), 4),
      topics: splitHex(topics.toString('hex'), 32),
      standard: text(standard),
      standardSource: text(source) as ShownCode['standardSource'],
    }
  }

  const partsOf = (number: number): BlockParts => {
    const { stored } = requirePresent(context.block(number), `block ${number}`)
    return blockParts(number, `0x${stored.hash.toString('hex')}`, stored.time)
  }

  const load: Record<RowKind, (position: number) => Document | undefined> = {
    contract(at) {
      const row = readContract.get(at) as ContractColumns | undefined
      if (!row) return undefined
      const [addressId, creator, tx, code, implementation, name, source, probability] = row
      const number = blockOf(at)
      const position = positionOf(number, tx)
      const place = {
        block: partsOf(number),
        transactionHash: hashOfTx(requirePresent(context.block(number), `block ${number}`).stored, tx)!,
        origin: address(requirePresent(senderOf(position), `transaction ${tx} of block ${number}`) as number),
      }
      const parts = {
        address: address(addressId),
        creator: address(creator),
        code: code === null ? null : codeAt(code),
        implementation: implementation === null ? null : address(implementation),
        abi: { name: text(name), source: text(source) as BlockContract['abi']['source'], probability },
      }
      return contractDocument(place, parts, asJson)
    },
    token(position) {
      const row = readToken.get(position) as TokenCells | undefined
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
      return tokenDocument(partsOf(blockOf(position)), parts, asJson)
    },
  }
  return byKind(ROW_KINDS, kind => rowShow(load[kind]))
}

const rowShow = (load: (position: number) => Document | undefined): Show => {
  let document: Document
  return {
    find(position) {
      const found = load(position)
      if (found) document = found
      return found !== undefined
    },
    id: out => out.text(document._id),
    routing: undefined,
    parent: undefined,
    source(filter) {
      if (filter === false) return undefined
      const shown = compileSourceFilter(filter)
      return out => writeJson(out, shown(document._source))
    },
  }
}

type TokenCells = [
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

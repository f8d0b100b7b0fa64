import type { RawBlock } from '../../src/chain/wire.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../test/support/store.ts'
import type { Random } from '../lib/random.ts'
import { stringify } from './body.ts'
import { type Mutation, randomMutations } from './mutate-block.ts'

/** Blocks of the demo chain that have transactions, in their order. */
export const honestBlocks = (): RawBlock[] => demoBlocks().slice(0, BLOCKS)
const BLOCKS = 120

/** What a node or a pack says with one place changed, or all of it; what is taken away is undefined. */
export const mutateWire = (said: unknown, random: Random): { path: string; what: string; value: unknown } => {
  const [{ path, what, raw }] = [...randomMutations({ said }, () => random.unit(), 1, FROM_ELSEWHERE)] as [
    Mutation<{ said: unknown }>,
  ]
  return { path, what, value: raw.said }
}

const FROM_ELSEWHERE = 0.15

export type Judgement =
  | { is: 'honest' }
  /** Another value of the same form, which can be told from the true one by nobody who does not know it. */
  | { is: 'unseen' }
  | { is: 'wrong'; why: string }

export type BlockJudge = ReturnType<typeof createBlockJudge>

/** Holds blocks against the honest ones by what a search would show of them. */
export const createBlockJudge = () => {
  let store = createTestStore()
  const known = new Map<RawBlock, string>()

  const documentsOf = (raw: RawBlock): string => {
    const documents = withBlock(store, raw)
    store.rollback(-1)
    return documents
  }
  const honestOf = (raw: RawBlock): string => {
    const found = known.get(raw) ?? documentsOf(raw)
    known.set(raw, found)
    return found
  }

  return {
    judge(honest: RawBlock, got: RawBlock): Judgement {
      if (JSON.stringify(honest) === JSON.stringify(got)) return { is: 'honest' }
      const wanted = honestOf(honest)
      const { bad } = differences(honest, got)
      let documents: string
      try {
        documents = documentsOf(structuredClone(got))
      } catch (error) {
        store.close()
        store = createTestStore()
        return { is: 'wrong', why: `it passes the check, then its documents cannot be made: ${String(error)}` }
      }
      if (documents === wanted) return { is: 'honest' }
      return bad === undefined ? { is: 'unseen' } : { is: 'wrong', why: `it is served although ${bad}` }
    },
    close: () => store.close(),
  }
}

const withBlock = (store: TestStore, raw: RawBlock): string => {
  store.add([raw])
  return KINDS.map(kind =>
    store
      .all(kind)
      .map(it => stringify(asText(it)))
      .join('\n'),
  ).join('\n\n')
}

const asText = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)))

/** Whether anything differs, and the first difference that has a form which no honest node gives. */
export const differences = (honest: unknown, got: unknown, path = ''): { any: boolean; bad: string | undefined } => {
  if (JSON.stringify(honest) === JSON.stringify(got)) return { any: false, bad: undefined }
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  if (isObject(honest) && isObject(got) && Array.isArray(honest) === Array.isArray(got)) {
    for (const key of new Set([...Object.keys(honest), ...Object.keys(got)])) {
      const { bad } = differences(honest[key], got[key], at(key))
      if (bad !== undefined) return { any: true, bad }
    }
    return { any: true, bad: undefined }
  }
  return { any: true, bad: isWellFormed(honest, got, path) ? undefined : `${path} is ${show(got)}` }
}

/** Members that every node has for every block, transaction, receipt and log. */
const REQUIRED = /(\.(from|input|gas|value|hash|blockHash|address|data|number|timestamp)|transactions\.\d+\.nonce)$/
const DATA = /\.(input|data|extraData|output|code|init)$/
/** Numbers that are shown with the zeros in front that a node writes. */
const SIGNATURE = /\.(v|r|s|yParity)$/
/** Chains other than Ethereum put values of any length there. */
const SEAL = /\.(nonce|mixHash|sha3Uncles|\w+Root)$/

const isWellFormed = (honest: unknown, got: unknown, path: string): boolean => {
  if (got === undefined || got === null) return !REQUIRED.test(path) || /authorizationList|accessList/.test(path)
  // A member that is unknown here, or a list with more in it.
  if (honest === undefined) return true
  if (honest === null) return typeof got === 'string' && /^0x[0-9a-f]*$/i.test(got)
  if (path.endsWith('.status') && typeof got === 'boolean') return got !== (honest === '0x1')
  // Some nodes write small quantities as numbers of JSON.
  if (isQuantity(honest, path) && typeof got === 'number')
    return Number.isSafeInteger(got) && got >= 0 && got !== Number(honest)
  if (typeof honest !== typeof got) return false
  if (typeof got === 'number') return Number.isSafeInteger(got) && got >= 0
  if (typeof honest !== 'string' || typeof got !== 'string') return !isObject(got)
  if (!/^0x[0-9a-f]*$/.test(honest)) return true
  // What means the same must be shown the same.
  if (!/^0x[0-9a-f]*$/i.test(got) || got.toLowerCase() === honest) return false
  if (DATA.test(path)) return got.length % 2 === 0
  if (SEAL.test(path) && got.length <= 66) return true
  if (!isQuantity(honest, path)) return got.length === honest.length
  // Some write zero without a digit.
  const isOther = BigInt(got === '0x' ? '0x0' : got) !== BigInt(honest)
  if (path.endsWith('.status')) return got === '0x0' || got === '0x1'
  return got.length <= 66 && (isOther || SIGNATURE.test(path))
}

const isQuantity = (value: unknown, path: string): boolean =>
  typeof value === 'string' &&
  /^0x[0-9a-f]{1,64}$/.test(value) &&
  (SIGNATURE.test(path) || (!DATA.test(path) && ![42, 66].includes(value.length)))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text
}

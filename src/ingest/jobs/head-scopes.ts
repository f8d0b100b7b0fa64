import type { RawBlock } from '../../chain/wire.ts'
import type { Child } from '../../engine/coverage.ts'
import type { Lookups } from '../../engine/port.ts'
import { childrenIn, type Scope, textOfFactory } from '../../scopes/factory.ts'
import { isOfLogs, type Question, questionsOf } from '../../scopes/questions.ts'
import type { Work } from '../job-context.ts'
import type { Lane } from '../lane.ts'
import { joinParts } from '../scoped/join-blocks.ts'
import { questionsIn } from '../scoped/resolve-scopes.ts'
import { prefetch } from './prefetch.ts'

/** Looks in each block of the head for what scopes want. */
export const createHeadScopes = (scopes: readonly Scope[], coverage: Lookups['coverage']) => {
  let asked = createAsked(scopes, coverage)
  return {
    left() {
      asked = createAsked(scopes, coverage)
    },
    async take(work: Work, lane: Lane, event: RawBlock) {
      const { hash, parentHash } = event.block
      const { raw, notes } = await findIn(work, asked, event)
      if (raw) await prefetch(work, [raw])
      const looked = [{ number: Number(event.block.number), hash, parentHash }]
      await lane.addScoped({ blocks: raw ? [raw] : [], notes: { ...notes, looked } })
    },
  }
}

type Asked = ReturnType<typeof createAsked>

/** What is asked for at the head. Addresses that are named meanwhile have a filter of their own until the next start. */
const createAsked = (scopes: readonly Scope[], coverage: Lookups['coverage']) => {
  const keyOf = ({ factory, address }: Pick<Child, 'factory' | 'address'>) => `${factory} ${address}`
  const known = new Set(coverage.children().map(keyOf))
  const all = questionsIn({ coverage }, scopes)
  const isAt =
    (number: number) =>
    ({ from, to }: Question): boolean =>
      number >= from && number <= to
  return {
    at: (number: number): Question[] => all.filter(isAt(number)),
    add(child: Child): Question[] {
      if (known.has(keyOf(child))) return []
      known.add(keyOf(child))
      const fresh = scopes.flatMap(scope =>
        scope.factory && textOfFactory(scope.factory) === child.factory
          ? questionsOf([{ ...scope, addresses: [child.address], factory: undefined }], () => [])
          : [],
      )
      all.push(...fresh)
      return fresh.filter(isAt(child.number))
    },
  }
}

/** An address that a block names may emit logs in the same block, and name others in turn. */
const findIn = async ({ source, signal }: Work, asked: Asked, event: RawBlock) => {
  const { block: header, chainId } = event
  const number = Number(header.number)
  const find = async (some: readonly Question[]) => {
    const filters = some.map(({ filter }) => filter).filter(isOfLogs)
    return filters.length > 0 ? source!.scoped!.findIn(filters, header, signal) : undefined
  }
  const join = (one: RawBlock | undefined, other: RawBlock | undefined) =>
    one && other ? joinParts(one, other) : (one ?? other)
  const questions = asked.at(number)
  let raw = await find(questions)
  const factories = questions.flatMap(({ factory }) => factory ?? [])
  const children = raw ? childrenIn(raw, factories) : []
  const fresh = children.flatMap(asked.add)
  raw = join(raw, await find(fresh))
  const all = [...questions, ...fresh]
  const addresses = all.flatMap(({ filter }) => (isOfLogs(filter) ? [] : filter.addresses))
  raw = join(addresses.length > 0 ? await source!.transactions!.findIn(addresses, event, signal) : undefined, raw)
  if (raw && chainId !== undefined) raw.chainId ??= chainId
  return { raw, notes: { covered: all.map(({ text }) => ({ filter: text, from: number, to: number })), children } }
}

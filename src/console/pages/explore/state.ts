import { useMemo } from 'preact/hooks'
import { KINDS, type Kind } from '../../api/wire.ts'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import { type Asked, PLACE, type Sort } from './body.ts'
import { type Catalogue, sortPath } from './fields.ts'
import { type Question, readQuestion } from './question.ts'

const DEFAULT_KINDS = 'tx,event'

/** `@` marks columns that are worked out; the others are fields as `_source` shows them. */
export const DEFAULT_COLUMNS = '@time,@block,@kind,@thing,@amount,@what'

/** All that the address says of a search. */
export interface Search {
  network: string
  text: string
  kinds: readonly Kind[]
  columns: readonly string[]
  /** What is sorted by: a field, or `@block` for the order of the chain. */
  sort: Sort | undefined
  from: string
  to: string
  follows: boolean
  open: string
  view: string
}

export const useSearch = (networks: readonly string[]): Search => {
  const [network] = useQueryState('network')
  const [text] = useQueryState('q')
  const [kinds] = useQueryState('kinds', DEFAULT_KINDS)
  const [columns] = useQueryState('columns', DEFAULT_COLUMNS)
  const [sort] = useQueryState('sort')
  const [from] = useQueryState('from')
  const [to] = useQueryState('to')
  const [follow] = useQueryState('follow')
  const [open] = useQueryState('open')
  const [view] = useQueryState('view')
  const [, field, order] = /^(.*):(asc|desc)$/s.exec(sort) ?? []
  return {
    ...{ network: network || networks[0] || '', text, from, to, open, view },
    kinds: KINDS.filter(kind => kinds.split(',').includes(kind)),
    columns: [...new Set(columns.split(',').filter(name => name !== ''))],
    sort: field === undefined ? undefined : { field, order: order as Sort['order'] },
    follows: follow === '1',
  }
}

/** Whether nothing was asked for yet. */
export const isFirstSight = ({ text, kinds, sort, from, to }: Search): boolean =>
  text === '' && kinds.join() === DEFAULT_KINDS && sort === undefined && from === '' && to === ''

export const setKinds = (kinds: readonly Kind[]) => {
  const names = KINDS.filter(kind => kinds.includes(kind)).join() || 'none'
  setQuery({ kinds: names === DEFAULT_KINDS ? '' : names })
}

export const setColumns = (columns: readonly string[]) => {
  const names = columns.join()
  setQuery({ columns: names === DEFAULT_COLUMNS ? '' : names }, { replace: true })
}

/** Another click turns the order around, and a third one leaves it to the chain. */
export const sortBy = (field: string, { sort }: Search) => {
  const order = sort?.field !== field ? 'desc' : sort.order === 'desc' ? 'asc' : undefined
  setQuery({ sort: order && `${field}:${order}`, follow: '' })
}

export interface Understood {
  question?: Question
  asked?: Asked
  error?: unknown
}

/** What the address asks for; a sort by a field waits until it is known how. */
export const useAsked = (search: Search, catalogue: Catalogue | undefined): Understood => {
  const { text, kinds, sort, from, to, columns } = search
  const key = JSON.stringify([text, kinds, sort, from, to, columns])
  return useMemo(() => {
    try {
      const question = readQuestion(text, kinds)
      const by = sort && (sort.field === '@block' ? PLACE : catalogue && sortPath(catalogue, sort.field))
      if (sort && catalogue && by === undefined)
        return { question, error: new Error(`Hits cannot be sorted by "${sort.field}".`) }
      if (kinds.length === 0 || (sort && by === undefined)) return { question }
      const asked: Asked = {
        ...{ query: question.query, from: millis(from), to: millis(to) },
        sort: sort && { field: by!, order: sort.order },
        shown: columns.filter(name => !name.startsWith('@')),
      }
      return { question, asked }
    } catch (error) {
      return { error }
    }
  }, [key, catalogue])
}

const millis = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined)

import { addPacked, createValueList, removePacked, takeOverValues, type ValueList } from '../query/value-list.ts'
import { type Lists, listId } from './list-store.ts'
import type { FindList } from './lower.ts'
import { listsIn, type RuleConfig, type StoredRule } from './rule.ts'

interface Followed {
  account: number
  name: string
  values: ValueList
  /** As the values are; 0 without the list. */
  id: number
  seq: number
}

/** The watch lists that rules use, held in memory as they are now. */
export const createFollowedLists = (lists: Pick<Lists, 'get' | 'load' | 'changesSince'>) => {
  const followed = new Map<string, Followed>()

  const load = (it: Followed) => {
    const loaded = lists.load(it.account, it.name)
    takeOverValues(it.values, loaded?.values ?? createValueList(it.values.name))
    it.id = loaded?.list.id ?? 0
    it.seq = loaded?.list.seq ?? 0
  }

  /** Whether the values are others now. */
  const bringUp = (it: Followed): boolean => {
    const list = lists.get(it.account, it.name)
    if ((list?.id ?? 0) === it.id && (list?.seq ?? 0) === it.seq) return false
    if (list?.id !== it.id || list.wholeSeq > it.seq) load(it)
    else {
      for (const { value, added } of lists.changesSince(list, it.seq))
        if (added) addPacked(it.values, value)
        else removePacked(it.values, value)
      it.seq = list.seq
    }
    return true
  }

  return {
    /** The same one as long as a rule uses it. */
    of(account: number, name: string): ValueList {
      const id = listId(account, name)
      let it = followed.get(id)
      if (it === undefined) {
        it = { account, name, values: createValueList(id), id: 0, seq: 0 }
        load(it)
        followed.set(id, it)
      }
      return it.values
    },
    /** Applies changes of the lists; whether there were any. */
    refresh: (): boolean => [...followed.values()].map(bringUp).includes(true),
    /** Forgets lists that none of the rules uses. */
    keep(rules: Iterable<StoredRule>) {
      if (followed.size === 0) return
      const used = new Set<string>()
      for (const { account, input } of rules) for (const name of listsIn(input.config)) used.add(listId(account, name))
      for (const id of followed.keys()) if (!used.has(id)) followed.delete(id)
    },
  }
}

/** Lists of an account, loaded for one search. */
export const loadLists = async (
  lists: Pick<Lists, 'loadInTurns'>,
  account: number,
  config: RuleConfig,
): Promise<FindList> => {
  const found = new Map<string, ValueList>()
  for (const name of listsIn(config)) {
    const loaded = await lists.loadInTurns(account, name)
    if (loaded) found.set(name, loaded.values)
  }
  return name => found.get(name) ?? createValueList(listId(account, name))
}

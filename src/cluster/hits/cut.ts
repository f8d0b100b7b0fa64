import { asJson, readDocument } from '../../documents/show.ts'
import { OPEN, OPEN_LIST } from '../../engine/forms/json.ts'
import { compileSourcePaths } from '../../query/hits/source-filter.ts'
import type { SourceFilter } from '../../query/request.ts'
import { eachMember, endOfValue, nameAt } from './scan.ts'

/** What a filter leaves of a member: all of it, nothing, or what it has to be read for. */
type Left = 'whole' | 'none' | 'part'

/**
 * What a filter leaves of a document, from its bytes to text: members that are left whole are not read, so that all digits of numbers stay as they
 * are.
 */
export const compileCut = (filter: Exclude<SourceFilter, boolean>): ((source: Buffer) => string) => {
  const { includes, excludes } = filter
  if (includes.length === 0 && excludes.length === 0) return source => source.toString()
  const { of, cut } = compileSourcePaths(filter)

  const ofObject = (name: string): Left => {
    if (cut(PROBE, name) === PROBE) return 'whole'
    const reaches = includes.length === 0 || includes.some(it => it.includes('*') || it.startsWith(`${name}.`))
    return of(name) === 'none' && (includes.length === 0 || !reaches) ? 'none' : 'part'
  }
  const left = { value: memoized(name => of(name)), object: memoized(ofObject) }

  return source => {
    let shown = ''
    eachMember(source, 0, (from, nameFrom) => {
      const to = endOfValue(source, from)
      const name = nameAt(source, nameFrom, from)
      const first = source[from]
      const what = left[first === OPEN || first === OPEN_LIST ? 'object' : 'value'](name)
      const whole = what === 'none' ? undefined : source.toString('utf8', from, to)
      const text = what === 'part' ? partOf(whole!, name) : whole
      if (text !== undefined) shown += `${shown === '' ? '' : ','}"${name}":${text}`
      return to
    })
    return `{${shown}}`
  }

  function partOf(text: string, name: string): string | undefined {
    const some = cut(readDocument(text, asJson), name)
    return some === undefined ? undefined : JSON.stringify(some)
  }
}

const PROBE = {}

/** The members of documents are few and the same in each. */
const memoized = (decide: (name: string) => Left): ((name: string) => Left) => {
  const known = new Map<string, Left>()
  return name => {
    let what = known.get(name)
    if (what === undefined) {
      what = decide(name)
      known.set(name, what)
    }
    return what
  }
}

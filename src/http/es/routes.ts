import { KINDS } from '../../mapping/index.ts'
import type { Endpoint, Method } from './endpoint.ts'

export interface Found {
  /** By the method that they take. */
  endpoints: ReadonlyMap<Method, { endpoint: Endpoint; path: ReadonlyMap<string, string> }>
}

/** Finds endpoints by their paths; names before what stands for any of them. */
export const createRoutes = (endpoints: readonly Endpoint[]): ((segments: readonly string[]) => Found | undefined) => {
  const bySize = new Map<number, Route[]>()
  for (const endpoint of endpoints)
    for (const path of endpoint.paths) {
      const parts = path.split('/').filter(part => part !== '')
      const routes = bySize.get(parts.length) ?? []
      bySize.set(parts.length, [...routes, { endpoint, parts }].sort(byNames))
    }
  return segments => {
    const found: Found['endpoints'] & Map<Method, unknown> = new Map()
    for (const { endpoint, parts } of bySize.get(segments.length) ?? []) {
      const path = matched(parts, segments)
      if (!path) continue
      for (const method of endpoint.methods) if (!found.has(method)) found.set(method, { endpoint, path })
    }
    return found.size === 0 ? undefined : { endpoints: found }
  }
}

interface Route {
  endpoint: Endpoint
  parts: readonly string[]
}

const byNames = (a: Route, b: Route): number => {
  for (const [i, part] of a.parts.entries()) {
    const order = Number(part.startsWith('{')) - Number(b.parts[i]!.startsWith('{'))
    if (order !== 0) return order
  }
  return 0
}

/** Which segments a part stands for. */
const STANDS_FOR = new Map<string, (segment: string) => boolean>([
  ['{index}', segment => !segment.startsWith('_') || segment === '_all'],
  ['{type}', segment => segment.split(',').every(name => KINDS.some(kind => kind === name))],
  ['{document}', segment => !segment.startsWith('_')],
])

const matched = (parts: readonly string[], segments: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const path = new Map<string, string>()
  for (const [i, part] of parts.entries()) {
    const segment = segments[i]!
    if (!part.startsWith('{')) {
      if (part !== segment) return undefined
    } else if (STANDS_FOR.get(part)?.(segment) === false) return undefined
    else path.set(part.slice(1, -1), segment)
  }
  return path
}

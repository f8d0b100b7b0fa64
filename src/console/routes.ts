import type { FunctionComponent } from 'preact'

const thing = (kind: string) => `/:technology/:blockchain/:network/${kind}/:id`

/**
 * Pages, loaded on demand. `:name` in a path is a parameter. The first matching path wins; the last
 * path without parameters is the page's place in the navigation.
 */
export const PAGES: readonly ConsolePage[] = [
  { name: 'explore', title: 'Explore', paths: ['/', '/explore'], load: () => import('./pages/explore/index.tsx') },
  {
    ...{ name: 'rules', title: 'Rules', paths: ['/rules/new', '/rules/:id/edit', '/rules/:id', '/rules'] },
    load: () => import('./pages/rules/index.tsx'),
  },
  { name: 'block', title: 'Block', paths: [thing('block')], load: () => import('./pages/things/block.tsx') },
  { name: 'tx', title: 'Transaction', paths: [thing('tx')], load: () => import('./pages/things/tx.tsx') },
  { name: 'address', title: 'Address', paths: [thing('address')], load: () => import('./pages/things/address.tsx') },
  { name: 'token', title: 'Token', paths: [thing('token')], load: () => import('./pages/things/token.tsx') },
  { name: 'gas', title: 'Gas', paths: ['/gas'], load: () => import('./pages/gas/index.tsx') },
  { name: 'status', title: 'Status', paths: ['/status'], load: () => import('./pages/status/index.tsx') },
  { name: 'abis', title: 'ABIs', paths: ['/abis/:id', '/abis'], load: () => import('./pages/abis/index.tsx') },
  { name: 'account', title: 'Account', paths: ['/account'], load: () => import('./pages/account/index.tsx') },
]

export interface ConsolePage {
  name: string
  title: string
  paths: readonly string[]
  load(): Promise<{ default: FunctionComponent<PageProps> }>
}

export interface PageProps {
  parameters: ReadonlyMap<string, string>
}

interface PageMatch {
  page: ConsolePage
  parameters: ReadonlyMap<string, string>
}

export const findPage = (path: string, pages = PAGES): PageMatch | undefined => {
  for (const page of pages)
    for (const pattern of page.paths) {
      const parameters = matchPath(pattern, path)
      if (parameters) return { page, parameters }
    }
  return undefined
}

export const homeOf = ({ paths }: ConsolePage): string | undefined => paths.findLast(path => !path.includes(':'))

const matchPath = (pattern: string, path: string): Map<string, string> | undefined => {
  const [expected, parts] = [pathParts(pattern), pathParts(path)]
  if (expected.length !== parts.length) return undefined
  const parameters = new Map<string, string>()
  for (const [i, part] of expected.entries()) {
    const value = decoded(parts[i]!)
    if (value === undefined || (!part.startsWith(':') && part !== value)) return undefined
    if (part.startsWith(':')) parameters.set(part.slice(1), value)
  }
  return parameters
}

const pathParts = (path: string): string[] => path.split('/').filter(part => part !== '')

const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Page path of a document below `/console`; undefined if there is none. */
export const hrefOf = (network: string, kind: string, id: string): string | undefined => {
  const path = `/:technology/:blockchain/:network/${kind}/:id`
  return PAGES.some(({ paths }) => paths.includes(path)) ? `/${network}/${kind}/${encodeURIComponent(id)}` : undefined
}

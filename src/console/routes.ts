const thing = (kind: string) => `/:technology/:blockchain/:network/${kind}/:id`

/**
 * `:name` in a path is a parameter. The first matching path wins; the last path without parameters is
 * the page's place in the navigation.
 */
export const PAGES = [
  { name: 'explore', title: 'Explore', paths: ['/', '/explore'] },
  {
    name: 'rules',
    title: 'Rules',
    paths: [
      ...['/rules/lists/:list', '/rules/lists', '/rules/silences/:silence', '/rules/silences'],
      ...['/rules/new', '/rules/:id/edit', '/rules/:id', '/rules'],
    ],
  },
  { name: 'block', title: 'Block', paths: [thing('block')] },
  { name: 'tx', title: 'Transaction', paths: [thing('tx')] },
  { name: 'address', title: 'Address', paths: [thing('address')] },
  { name: 'token', title: 'Token', paths: [thing('token')] },
  { name: 'gas', title: 'Gas', paths: ['/gas'] },
  { name: 'status', title: 'Status', paths: ['/status'] },
  { name: 'abis', title: 'ABIs', paths: ['/abis/:id', '/abis'] },
  { name: 'account', title: 'Account', paths: ['/account'] },
] as const satisfies readonly ConsolePage[]

export type PageName = (typeof PAGES)[number]['name']

interface ConsolePage {
  name: string
  title: string
  paths: readonly string[]
}

export interface PageProps {
  parameters: ReadonlyMap<string, string>
}

export const findPage = (path: string) => {
  for (const page of PAGES)
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
  return PAGES.some(({ paths }) => (paths as readonly string[]).includes(path))
    ? `/${network}/${kind}/${encodeURIComponent(id)}`
    : undefined
}

import { rootUrl } from '../../shell/place.ts'
import { type Asked, plainBody } from './body.ts'
import type { Search } from './state.ts'
import { layOut } from './tree.ts'

const urlOf = ({ network, kinds }: Search): string =>
  new URL(`${rootUrl}${network}/es/${kinds.join()}/search/`, location.href).href

/** For a shell; the token stays out of it. */
export const curlOf = (search: Search, asked: Asked): string =>
  [
    `curl -s ${quoted(urlOf(search))} \\`,
    `  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(layOut(plainBody(asked)))}`,
  ].join('\n')

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

export const jsonOf = (asked: Asked): string => layOut(plainBody(asked))

/** The editor of rules takes what a rule can have of the query, and says what it cannot. */
export const ruleHref = ({ network, kinds }: Search, { query = '' }: Asked): string =>
  `/rules/new?${new URLSearchParams({ from: query, network, kinds: kinds.join() })}`

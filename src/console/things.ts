import { PAGES } from './routes.ts'

/** Where the page of a thing is, below `/console`; undefined while there is no such page. */
export const hrefOf = (network: string, kind: string, id: string): string | undefined => {
  const path = `/:technology/:blockchain/:network/${kind}/:id`
  return PAGES.some(({ paths }) => paths.includes(path)) ? `/${network}/${kind}/${encodeURIComponent(id)}` : undefined
}

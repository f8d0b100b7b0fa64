import { setTimeout as sleep } from 'node:timers/promises'

/** The cluster itself, asked beside the server. */
const askAny = async (urls: readonly string[], path: string, method = 'GET'): Promise<string | undefined> => {
  for (const url of urls) {
    const answer = await fetch(`${url}${path}`, { method, signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
    if (answer?.ok) return answer.text()
  }
  return undefined
}

/** Whether all nodes are there and all documents have their copies. */
export const isGreen = async (urls: readonly string[]): Promise<boolean> => {
  const answers = await Promise.all(urls.map(url => askAny([url], '/_cluster/health')))
  return answers.every(text => {
    const health = JSON.parse(text ?? '{}') as { status?: string; number_of_nodes?: number }
    return health.status === 'green' && health.number_of_nodes === urls.length
  })
}

export const removeIndices = async (urls: readonly string[], prefix: string): Promise<void> => {
  const indices = Object.keys(JSON.parse((await askAny(urls, `/${prefix}-*`)) ?? '{}') as object)
  for (const index of indices) await askAny(urls, `/${index}`, 'DELETE')
  await askAny(urls, `/_index_template/${prefix}-*`, 'DELETE')
}

/** `test` says true, or what there is instead. */
export const until = async (test: () => Promise<boolean | string>, ms: number, what: string): Promise<void> => {
  const end = Date.now() + ms
  for (;;) {
    const found = await test()
    if (found === true) return
    if (Date.now() > end)
      throw new Error(`${what}: not there after ${ms / 1_000} s${typeof found === 'string' ? `: ${found}` : ''}`)
    await sleep(200)
  }
}

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { buildConsole } from '../../scripts/console/build.ts'
import { openAccounts, type TokenScope } from '../../src/accounts/index.ts'
import { type Server, serve, start, tokenOf, until } from '../e2e/program.ts'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { CHROMIUM, skip } from './chromium.ts'

export { CHROMIUM, skip }

export const DEMO = 'ethereum/demo/local'

export interface Bench {
  /** The server of the demo chain; `restart` starts it at the same address once it has ended. */
  server: Server
  data: string
  restart(): Promise<void>
  /** A page of its own, which is not signed in. What its scripts throw, and what its policy refuses, fails the test. */
  open(t: TestContext, path?: string, options?: BrowserContextOptions): Promise<Page>
  /** The same, signed in, with a token of these scopes where they are named. */
  enter(t: TestContext, path?: string, options?: BrowserContextOptions, scopes?: readonly TokenScope[]): Promise<Page>
}

/** For a `describe`: a browser and a server of the demo chain, or of what `args` say, while its tests run. */
export const useConsole = (args: readonly string[] = []): Bench => {
  const ends: (() => unknown)[] = []
  const whole = { after: (end: () => unknown) => void ends.push(end) }
  const bench = {} as Bench
  let browser: Browser
  before(async () => {
    if (skip) return
    await buildConsole('test')
    bench.data = mkdtempSync(join(tmpdir(), 'chainsieve-console-'))
    ends.push(() => rmSync(bench.data, { recursive: true, force: true, maxRetries: 3 }))
    bench.server = await serve(whole, bench.data, args)
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
  })
  after(async () => {
    await browser?.close()
    for (const end of ends.reverse()) await end()
  })

  bench.restart = async () => {
    const { port } = new URL(bench.server.url)
    const program = start(whole, ['serve', '--port', port, ...args], { data: bench.data })
    await program.says(/Serves +url=/)
    bench.server = { ...bench.server, ...program }
  }
  bench.open = async (t, path = '/console/', options = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    const faults: string[] = []
    page.on('pageerror', error => faults.push(error.message))
    page.on('console', message => {
      const { url, lineNumber } = message.location()
      if (/Content Security Policy|Trusted/i.test(message.text())) faults.push(`${message.text()} ${url}:${lineNumber}`)
    })
    t.after(async () => {
      // Answers that were on their way through a test's hands are wanted no more.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
      if (faults.length > 0) throw new Error(`in the page: ${faults.join('; ')}`)
    })
    await page.goto(bench.server.url + path)
    return page
  }
  bench.enter = async (t, path, options, scopes) => {
    const page = await bench.open(t, path, options)
    await signIn(page, scopes ? tokenOf(bench.data, scopes) : bench.server.token)
    return page
  }
  return bench
}

export const signIn = async (page: Page, token: string) => {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

/** Revokes every token of the data folder, beside the server. */
export const revokeAll = (data: string) => {
  const accounts = openAccounts(data)
  for (const { id, revokedAt } of accounts.list()) if (revokedAt === null) accounts.revoke(id)
  accounts.close()
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds wrong once all is faded in, a line for each; the debugger runs it beside the page's policy. */
export const violations = async (page: Page): Promise<string[]> => {
  // The console has no animation without an end.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(it => it.finished)))
  await page.evaluate(`${AXE}; undefined`)
  return page.evaluate<string[]>(
    `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 300) + ' ' + failureSummary)))`,
  )
}

/** Waits until the page has so many: it draws them one after the other. */
export const counted = (locator: Locator, count: number): Promise<number> =>
  until(
    () => locator.count(),
    found => found === count,
    `of ${count}: ${locator}`,
  )

/** By how many pixels the page is wider than the window. */
export const overhang = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** The same on a chain of its own, which a node of a test runs; `network` is its name. */
export const useChain = (network: string, ...more: readonly string[]) => {
  const args: string[] = []
  const ends: (() => unknown)[] = []
  const chain = {} as { anvil: Anvil }
  before(async () => {
    if (skipChain) return
    chain.anvil = await startAnvil({ after: end => void ends.push(end) })
    args.push('--network', network, '--rpc', chain.anvil.url, '--poll-interval', '20ms', ...more)
  })
  after(async () => {
    for (const end of ends) await end()
  })
  return { bench: useConsole(args), chain }
}

export const skipChain = skip || (anvilPath === undefined && 'there is no anvil for this platform')

type Root = Page | Locator
type Name = string | RegExp

/** Waits until each of the texts is shown. */
export const see = async (root: Root, ...texts: Name[]) => {
  for (const text of texts) await root.getByText(text).waitFor()
}

const clicks =
  (role: 'button' | 'link' | 'tab') =>
  async (root: Root, ...names: Name[]) => {
    for (const name of names) await root.getByRole(role, { name }).click()
  }

/** Clicks one after the other. */
export const [press, follow, turnTo] = [clicks('button'), clicks('link'), clicks('tab')]

/** Axe finds nothing, and nothing lies beyond the window, wide and narrow; the window stays narrow. */
export const checkLayout = async (page: Page, what?: string) => {
  assert.deepEqual(await violations(page), [], what)
  await page.setViewportSize({ width: 360, height: 740 })
  assert.deepEqual(await violations(page), [], what)
  assert.equal(await overhang(page), 0, what)
}

/** Chooses from a menu by its button's name. */
export const choose = async (page: Page, menu: Name, item: Name) => {
  await page.getByRole('button', { name: menu }).click()
  await page
    .getByRole('menuitem', { name: item })
    .or(page.getByRole('menuitemradio', { name: item }))
    .or(page.getByRole('menuitemcheckbox', { name: item }))
    .click()
}

/** Replaces the text of an editor by its keys: where it is filled, the browser writes styles into it, which the page's policy refuses. */
export const rewrite = async (editor: Locator, text: string) => {
  await editor.press('ControlOrMeta+a')
  await editor.press('Delete')
  await editor.page().keyboard.insertText(text)
}

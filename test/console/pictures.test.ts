import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Greys, greyPng, greysOf } from '../../scripts/console/png.ts'
import { tokenOf, until } from '../e2e/program.ts'
import { CHANGED_THEN_UPGRADED } from '../support/worked-rules.ts'
import { DEMO, skip, useConsole } from './support.ts'

/**
 * Each page at three widths, light and dark, looks as in `pictures/`. These have the brightness of
 * squares, which tells where things are, and not how a Chromium draws letters. `UPDATE=1` writes
 * them anew.
 */
const FOLDER = join(import.meta.dirname, 'pictures')
const SQUARE = 8
/** The browser draws the pictures smaller, which takes less time. */
const SCALE = 0.25
const [WIDTHS, HEIGHT] = [[1_440, 1_024, 392], 1_104] as const
const THEMES = ['light', 'dark'] as const
/** A little later than the newest block, so that ages are always the same. */
const NOW = new Date('2025-01-01T02:00:00Z')
const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

/** A square differs by so much brightness, and a picture by so many of a thousand squares. */
const [MOST_DIFFERENCE, MOST_OF_THOUSAND] = [16, 1.5]

/** Hides what differs from run to run: times, durations and how often the machine did what. */
const STYLE = `
  time, .sum > p { opacity: 0 !important }
  time { display: inline-block; width: 8em; overflow: hidden; white-space: nowrap }
  .sum > p { width: 100% }
  time .dim { display: none }
  * { scrollbar-width: none }
`

interface Pictured {
  /** Below `/console`. */
  path: string | (() => Promise<string>)
  ready(page: Page): Promise<unknown>
  /** Elements that are not compared: they follow the clock of the server. */
  hidden?: string
}

describe('pictures of the console', { skip }, () => {
  const bench = useConsole(['--allow-target', '127.0.0.1/32', '--delivery-retries', '1s'])
  const first = async (kind: string, query: object) =>
    (await bench.server.search(DEMO, kind, { query, size: 1, sort: [{ _shard_doc: 'asc' }] })).hits.hits[0]!
  const rule = {
    ...{ name: 'Large transfers', maxConfirmationCount: 0, startBlock: 0 },
    ...{ technology: 'ethereum', blockchain: 'demo', network: 'local' },
    config: {
      targetType: 'Event',
      targetMap: [
        { name: 'event', operator: 'Equals', value: 'Transfer' },
        { name: 'address', operator: 'Equals', value: DOLLAR },
        {
          ...{ name: 'args', operator: 'Inspect' },
          operatorParameters: [{ name: 'value', operator: 'Greater', value: '100000', useScaledValue: true }],
        },
      ],
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'http://127.0.0.1:9/hook' } }],
    },
  }
  /** A rule whose receiver is dead; another one is paused. */
  let failing: Promise<number> | undefined
  const startFailing = async () => {
    const { status, body } = await bench.server.ask<{ id: number }>('/alerting/rules', rule)
    assert.equal(status, 201, JSON.stringify(body))
    await bench.server.ask('/alerting/rules', { ...rule, name: 'Paused for now', enabled: false })
    await until(
      () => bench.server.ask<{ deliveries: object[] }>('/alerting/deliveries/?state=dead'),
      ({ body }) => body.deliveries.length === 18,
    )
    return body.id
  }
  const ruleAt = (path: (id: number) => string) => async () => {
    failing ??= startFailing()
    return path(await failing)
  }
  const text = (what: string | RegExp) => (page: Page) => page.getByText(what).first().waitFor()
  const chart = (page: Page) => page.locator('.chart canvas').first().waitFor()
  const row = (page: Page) => page.getByRole('grid').getByRole('row').nth(1).waitFor()
  const both = async (page: Page) => {
    await chart(page)
    await row(page)
  }

  const pages: Record<string, Pictured> = {
    explore: { path: '/explore', ready: both },
    'explore-conditions': { path: '/explore?kinds=event&split=event&view=conditions', ready: both },
    'explore-hit': {
      path: async () => `/explore?open=tx+${(await first('tx', { term: { status: true } }))._id}`,
      ready: text('transactionIndex'),
    },
    'explore-nothing': { path: '/explore?q=DUSD', ready: text('Did you mean') },
    block: { path: `/${DEMO}/block/400`, ready: row },
    'tx-swap': {
      path: async () => {
        const { _source } = await first('event', { term: { 'event.raw': 'Swap' } })
        return `/${DEMO}/tx/${_source.transactionHash}`
      },
      ready: text('swapped'),
    },
    'tx-failed': {
      path: async () =>
        `/${DEMO}/tx/${(await first('tx', { term: { revertName: 'OwnableUnauthorizedAccount' } }))._id}`,
      ready: text('the failure began here'),
    },
    contract: { path: `/${DEMO}/address/${DOLLAR}`, ready: row },
    'contract-activity': { path: `/${DEMO}/address/${DOLLAR}?tab=activity`, ready: chart },
    token: { path: `/${DEMO}/token/${DOLLAR}`, ready: row },
    'token-activity': { path: `/${DEMO}/token/${DOLLAR}?tab=activity`, ready: chart },
    gas: { path: '/gas?range=all', ready: chart },
    rules: { path: ruleAt(() => '/rules'), ready: row },
    lists: {
      path: async () => {
        for (const [name, values] of [
          ['customers', [DOLLAR]],
          ['exchange-wallets', Array.from({ length: 2_500 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)],
        ] as const)
          await bench.server.ask(`/alerting/lists/${name}/`, values, 'PUT')
        return '/rules/lists/customers'
      },
      ready: row,
    },
    silences: {
      path: async () => {
        const silence = { from: '2029-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z', reason: 'Planned upgrade' }
        for (const matcher of [{ network: 'ethereum/other/mainnet' }, { fields: { address: DOLLAR } }])
          await bench.server.ask('/alerting/silences/', { matcher, ...silence })
        return '/rules/silences/1'
      },
      ready: row,
    },
    rule: { path: ruleAt(id => `/rules/${id}`), ready: text('Alerts do not arrive'), hidden: '.chart' },
    'rule-editor': { path: ruleAt(id => `/rules/${id}/edit`), ready: text(/18 matches/) },
    'rule-over-time': {
      path: async () => {
        const when = {
          ...{ by: ['args.to'], within: { seconds: 600 } },
          conditions: [
            { aggregate: 'Sum', name: 'args.value.scaled', operator: 'Greater', value: '1000000' },
            { aggregate: 'Count', operator: 'Greater', value: '3' },
          ],
        }
        const { body } = await bench.server.ask<{ id: number }>('/alerting/rules', {
          ...{ ...rule, startBlock: 1_000, config: { ...rule.config, when, notify: { resolved: true } } },
        })
        return `/rules/${body.id}/edit`
      },
      ready: async page => {
        await text('In units of DUSD')(page)
        await text(/\d matches in blocks/)(page)
      },
    },
    'rule-steps': {
      path: async () => {
        const config = { ...rule.config, ...CHANGED_THEN_UPGRADED }
        const { body } = await bench.server.ask<{ id: number }>('/alerting/rules', {
          ...rule,
          startBlock: 1_000,
          config,
        })
        return `/rules/${body.id}/edit`
      },
      ready: text(/\d matches in blocks/),
    },
    status: { path: '/status', ready: text('The server is ready') },
    deliveries: {
      path: ruleAt(() => '/status?view=deliveries'),
      ready: page => page.getByRole('region', { name: 'Receivers' }).waitFor(),
    },
    disk: {
      path: '/status?view=storage',
      ready: page => page.getByRole('cell', { name: 'block', exact: true }).waitFor(),
    },
    abis: { path: '/abis', ready: text('ABIs') },
    account: { path: '/account', ready: text('admin') },
    'sign-in': { path: '', ready: text('Sign in') },
  }

  for (const [name, { path, ready, hidden = 'none' }] of Object.entries(pages))
    test(name, async t => {
      const where = typeof path === 'string' ? path : await path()
      const page = await bench.open(t, '/console/', { bypassCSP: true, reducedMotion: 'reduce' })
      await page.clock.setFixedTime(NOW)
      if (where !== '') {
        const token = tokenOf(bench.data, ['search', 'rules', 'admin'])
        await page.evaluate(token => sessionStorage.setItem('chainsieve.token', token), token)
        await page.goto(`${bench.server.url}/console${where}`)
      }
      await page.setViewportSize({ width: WIDTHS[0], height: HEIGHT })
      await ready(page)
      await page.addStyleTag({ content: `${STYLE} ${hidden} { opacity: 0 }` })
      const debug = await page.context().newCDPSession(page)
      const seen: Greys[] = []
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT })
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme })
          // Charts and lists follow the size and the theme.
          await page.evaluate(() => new Promise(resolve => setTimeout(() => requestAnimationFrame(resolve), 100)))
          const clip = { x: 0, y: 0, width, height: HEIGHT, scale: SCALE }
          const { data } = await debug.send('Page.captureScreenshot', { clip })
          seen.push(greysOf(Buffer.from(data, 'base64'), SQUARE * SCALE))
        }
      }
      const file = join(FOLDER, `${name}.png`)
      if (process.env.UPDATE) writeFileSync(file, greyPng(beside(seen)))
      assert.ok(existsSync(file), `there is no ${file}: UPDATE=1 writes it`)
      const expected = apart(greysOf(readFileSync(file)))
      const found = seen.map((picture, i) => differing(picture, expected[i]!))
      t.diagnostic(found.map(share => share.toFixed(1)).join(' '))
      const [most = 0, at = 0] = found.map((share, i) => [share, i]).sort((a, b) => b[0]! - a[0]!)[0]!
      if (most <= MOST_OF_THOUSAND) return
      const [width, colorScheme] = [WIDTHS[at >> 1]!, THEMES[at & 1]!]
      await page.setViewportSize({ width, height: HEIGHT })
      await page.emulateMedia({ colorScheme })
      const now = join(tmpdir(), `chainsieve-${name}-${width}-${colorScheme}.png`)
      await page.screenshot({ path: now })
      assert.fail(`${most.toFixed(1)} of 1,000 squares differ from ${file} at ${width} px, ${colorScheme}: see ${now}`)
    })
})

/** Pictures of all widths as one: light above dark. */
const beside = (pictures: readonly Greys[]): Greys => {
  const [width, height] = [WIDTHS.reduce((sum, it) => sum + it / SQUARE, 0), HEIGHT / SQUARE]
  const greys = new Uint8Array(width * height * THEMES.length)
  for (const [i, picture] of pictures.entries())
    for (let y = 0; y < height; y++)
      greys.set(
        picture.greys.subarray(y * picture.width, (y + 1) * picture.width),
        ((i & 1) * height + y) * width + leftOf(i >> 1),
      )
  return { width, height: height * THEMES.length, greys }
}

const leftOf = (place: number) => WIDTHS.slice(0, place).reduce((sum, it) => sum + it / SQUARE, 0)

const apart = (whole: Greys): Greys[] =>
  WIDTHS.flatMap((pixels, place) =>
    THEMES.map((_, theme) => {
      const [width, height] = [pixels / SQUARE, HEIGHT / SQUARE]
      const greys = new Uint8Array(width * height)
      for (let y = 0; y < height; y++) {
        const from = (theme * height + y) * whole.width + leftOf(place)
        greys.set(whole.greys.subarray(from, from + width), y * width)
      }
      return { width, height, greys }
    }),
  )

/** How many of a thousand squares differ, each with its neighbours, so that letters may be drawn a little aside. */
const differing = (a: Greys, b: Greys): number => {
  let count = 0
  for (let y = 0; y < a.height; y++)
    for (let x = 0; x < a.width; x++) if (Math.abs(aroundOf(a, x, y) - aroundOf(b, x, y)) > MOST_DIFFERENCE) count++
  return (count * 1_000) / a.greys.length
}

const aroundOf = ({ width, height, greys }: Greys, x: number, y: number): number => {
  let [sum, count] = [0, 0]
  for (let at = Math.max(y - 1, 0); at <= Math.min(y + 1, height - 1); at++)
    for (let left = Math.max(x - 1, 0); left <= Math.min(x + 1, width - 1); left++) {
      sum += greys[at * width + left]!
      count++
    }
  return sum / count
}

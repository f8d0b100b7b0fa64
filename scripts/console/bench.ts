import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../../test/console/chromium.ts'
import { PACK, type Packed } from './build.ts'
import { serveBuilt } from './serve.ts'

/** Prints the sizes of the console, and how soon its pages and hits are seen on loopback: `npm run bench:console`. */
const MOST_KB = 500
const MOST_PAINT_MS = 250
const MOST_SEARCH_MS = 200
const RUNS = 9

const packed = readFileSync(PACK)
const { files } = JSON.parse(packed.toString('utf8', 0, packed.indexOf('\n'))) as Packed
const row = (name: string, size: number, br: number, gzip: number) =>
  console.log(`${name.padEnd(34)} ${String(size).padStart(8)} ${String(br).padStart(8)} ${String(gzip).padStart(8)}`)
console.log(`${'file'.padEnd(34)} ${'bytes'.padStart(8)} ${'brotli'.padStart(8)} ${'gzip'.padStart(8)}`)
for (const { name, size, br, gzip } of files) row(name, size, br, gzip)
const sum = (of: 'size' | 'br' | 'gzip') => files.reduce((total, file) => total + file[of], 0)
row(`in all (at most ${MOST_KB} kB)`, sum('size'), sum('br'), sum('gzip'))

const measure = async (executablePath: string) => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-bench-console-'))
  const { url, token, stop } = await serveBuilt(data)
  try {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    const paints: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const page = await (await browser.newContext()).newPage()
      await page.goto(`${url}/console/`)
      await page.getByLabel('Token', { exact: true }).waitFor()
      paints.push(await firstPaint(page))
      await page.context().close()
    }
    tell('first paint, nothing cached', paints, MOST_PAINT_MS)
    const page = await browser.newPage()
    await signIn(page, `${url}/console/explore?kinds=event`, token)
    await reloading(page)
    await searching(page)
    await page.close()
    await scrolling(await browser.newPage(), url, token)
    await browser.close()
  } finally {
    await stop()
    rmSync(data, { recursive: true, force: true })
  }
}

const tell = (what: string, times: number[], most: number) => {
  const sorted = times.map(Math.round).sort((a, b) => a - b)
  console.log(`${what}, ms (at most ${most}): median ${sorted[sorted.length >> 1]}, all ${sorted.join(' ')}`)
}

const firstPaint = async (page: Page) => {
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0)
  return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime)
}

const signIn = async (page: Page, address: string, token: string) => {
  await page.goto(address)
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('gridcell').first().waitFor()
}

const reloading = async (page: Page) => {
  const [paints, tables]: [number[], number[]] = [[], []]
  for (let run = 0; run < RUNS; run++) {
    await page.reload({ waitUntil: 'commit' })
    tables.push(await shownAfter(page, ''))
    paints.push(await firstPaint(page))
  }
  tell('first paint of Explore, signed in', paints, MOST_PAINT_MS)
  tell('from its address to its table', tables, MOST_PAINT_MS + MOST_SEARCH_MS)
}

const EVENTS = ['Swap', 'Approval', 'Sync', 'Transfer']

/** From the key that asks to the frame that shows the hits. The server has not been asked the same before. */
const searching = async (page: Page) => {
  const times: number[] = []
  const box = page.getByLabel('Query')
  for (let run = 0; run < RUNS; run++) {
    const name = EVENTS[run % EVENTS.length]!
    await box.fill(`event:${name} AND blockNumber.num:<=${420 - run}`)
    await box.evaluate(field => {
      field.addEventListener(
        'keydown',
        () => {
          performance.clearMarks('asked')
          performance.mark('asked')
        },
        { once: true, capture: true },
      )
    })
    await box.press('Enter')
    times.push(await shownAfter(page, `${name}(`, 'asked'))
  }
  tell('from a search to its table', times, MOST_SEARCH_MS)
}

/** Milliseconds from the mark, or from the start of the page, to the frame whose first hit has the text. */
const shownAfter = (page: Page, text: string, mark?: string) =>
  page.evaluate(
    async ([text, mark]) => {
      const first = () => document.querySelectorAll('[role=grid] [role=row]')[1]
      const since = () => (mark === undefined ? 0 : performance.getEntriesByName(mark)[0]!.startTime)
      for (;;) {
        const now = await new Promise<number>(resolve => requestAnimationFrame(resolve))
        if (first()?.textContent.includes(text!)) return now - since()
      }
    },
    [text, mark] as const,
  )

/** How long frames take while so many hits are scrolled through; a screen shows one every 16.7 ms. */
const HITS = 10_000
const FRAMES = 300

const scrolling = async (page: Page, url: string, token: string) => {
  await signIn(page, `${url}/console/explore?kinds=event,log,call,trace`, token)
  const grid = page.getByRole('grid')
  while (Number(await grid.getAttribute('aria-rowcount')) <= HITS) {
    await grid.evaluate(box => box.scrollTo(0, box.scrollHeight))
    await page.waitForTimeout(20)
  }
  await grid.evaluate(box => box.scrollTo(0, 0))
  await page.waitForTimeout(1_000)
  const times = await grid.evaluate(async (box, frames) => {
    const next = () => new Promise<number>(resolve => requestAnimationFrame(resolve))
    const times: number[] = []
    for (let i = 0, before = await next(); i < frames; i++) {
      box.scrollTop += (box.scrollHeight - box.clientHeight) / (frames + 10)
      const now = await next()
      times.push(now - before)
      before = now
    }
    return times.sort((a, b) => a - b)
  }, FRAMES)
  const at = (part: number) => times[Math.floor(times.length * part)]!.toFixed(1)
  console.log(
    `a frame while ${HITS} hits are scrolled, ms: median ${at(0.5)}, 95 of 100 ${at(0.95)}, longest ${at(0.999)}`,
  )
}

if (CHROMIUM === undefined) console.log('no times: there is no Chromium')
else await measure(CHROMIUM)

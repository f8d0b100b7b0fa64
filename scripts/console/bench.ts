import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../../test/console/chromium.ts'
import { PACK, type Packed } from './build.ts'
import { serveBuilt } from './serve.ts'

/** Prints the sizes of the console, and how soon something of it is seen on loopback: `npm run bench:console`. */
const MOST_KB = 500
const MOST_MS = 500
const RUNS = 9

const packed = readFileSync(PACK)
const { files } = JSON.parse(packed.toString('utf8', 0, packed.indexOf('\n'))) as Packed
const row = (name: string, size: number, br: number, gzip: number) =>
  console.log(`${name.padEnd(34)} ${String(size).padStart(8)} ${String(br).padStart(8)} ${String(gzip).padStart(8)}`)
console.log(`${'file'.padEnd(34)} ${'bytes'.padStart(8)} ${'brotli'.padStart(8)} ${'gzip'.padStart(8)}`)
for (const { name, size, br, gzip } of files) row(name, size, br, gzip)
const sum = (of: 'size' | 'br' | 'gzip') => files.reduce((total, file) => total + file[of], 0)
row(`in all (at most ${MOST_KB} kB)`, sum('size'), sum('br'), sum('gzip'))

const firstSight = async (executablePath: string) => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-bench-console-'))
  const { url, token, stop } = await serveBuilt(data)
  try {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    const times: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const page = await (await browser.newContext()).newPage()
      await page.goto(`${url}/console/`)
      await page.getByLabel('Token', { exact: true }).waitFor()
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0)
      times.push(
        await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN),
      )
      await page.context().close()
    }
    await scrolling(await browser.newPage(), url, token)
    await browser.close()
    const sorted = times.map(Math.round).sort((a, b) => a - b)
    console.log(`first sight, ms (at most ${MOST_MS}): median ${sorted[RUNS >> 1]}, all ${sorted.join(' ')}`)
  } finally {
    await stop()
    rmSync(data, { recursive: true, force: true })
  }
}

/** How long frames take while so many hits are scrolled through; a screen shows one every 16.7 ms. */
const HITS = 10_000
const FRAMES = 300

const scrolling = async (page: Page, url: string, token: string) => {
  await page.goto(`${url}/console/explore?kinds=event,log,call,trace`)
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
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

if (CHROMIUM === undefined) console.log('first sight: skipped, there is no Chromium')
else await firstSight(CHROMIUM)

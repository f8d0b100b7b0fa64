import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM } from '../../test/console/chromium.ts'
import { withPalette } from './png.ts'
import { serveBuilt } from './serve.ts'

/** Writes the pictures of the docs, from the demo chain: `npm run screenshots`. */
const FOLDER = 'docs/images'
const MOST_KB = 80
const SIZE = { width: 1_000, height: 560 }
/** A little later than the newest block, so that ages are always the same. */
const NOW = new Date('2025-01-01T02:00:00Z')

const PICTURES: readonly Picture[] = [
  {
    name: 'explore-light',
    colorScheme: 'light',
    path: '/explore?kinds=event&split=event',
    ready: page => page.locator('.chart canvas').waitFor(),
  },
  {
    name: 'explore-dark',
    colorScheme: 'dark',
    path: '/explore?kinds=event&split=event',
    ready: page => page.locator('.chart canvas').waitFor(),
  },
  {
    name: 'rule-light',
    colorScheme: 'light',
    path: '/rules/new?offer=dollars',
    size: { width: 1_280, height: 720 },
    ready: page => page.getByText(/\d matches in blocks/).waitFor(),
  },
  {
    name: 'transaction-dark',
    colorScheme: 'dark',
    path: '/ethereum/demo/local/tx/0x06e1f48b21b298b807f5a8fa6efab104e20bb2862f61fa977b57d66b04416510',
    ready: page => page.getByText('swapped').waitFor(),
  },
  {
    name: 'disk-dark',
    colorScheme: 'dark',
    path: '/status?view=storage',
    ready: page => page.getByRole('cell', { name: 'block', exact: true }).waitFor(),
  },
]

interface Picture {
  name: string
  /** By default `SIZE`. */
  size?: { width: number; height: number }
  colorScheme: 'light' | 'dark'
  /** Below `/console`. */
  path: string
  ready(page: Page): Promise<void>
}

const take = async (executablePath: string) => {
  mkdirSync(FOLDER, { recursive: true })
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-screenshots-'))
  const server = await serveBuilt(data)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    for (const { name, size = SIZE, colorScheme, path, ready } of PICTURES) {
      const context = await browser.newContext({ viewport: size, colorScheme, locale: 'en-GB', timezoneId: 'UTC' })
      const page = await context.newPage()
      // What the status shows is measured now.
      if (!path.startsWith('/status')) await page.clock.setFixedTime(NOW)
      await page.goto(`${server.url}/console${path}`)
      await page.getByLabel('Token', { exact: true }).fill(server.token)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await ready(page)
      await page.waitForTimeout(500)
      const file = join(FOLDER, `${name}.png`)
      writeFileSync(file, withPalette(await page.screenshot({ caret: 'hide', animations: 'disabled' })))
      await context.close()
      const kilobytes = Math.ceil(statSync(file).size / 1_000)
      console.log(`${file}: ${kilobytes} kB`)
      if (kilobytes > MOST_KB) throw new Error(`${file} takes more than ${MOST_KB} kB: show less in it`)
    }
  } finally {
    await browser.close()
    await server.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

if (CHROMIUM === undefined) throw new Error('There is no Chromium: install one, or name it in CHROMIUM')
await take(CHROMIUM)

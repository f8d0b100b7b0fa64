import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { FROM_ASSETS } from '../../src/lib/runtime.ts'
import { PACK } from '../console/build.ts'
import { makeExecutable, makeProgramAssets } from './make.ts'
import { vectorsFor } from './node.ts'
import { native, PLATFORMS, type Platform } from './platforms.ts'

export interface Target {
  platform: Platform
  output: string
}

/** Builds executables: `common` is what esbuild is told for each form of the program; `built`: name in them to file that was made before. */
export const buildExecutables = async (
  common: BuildOptions,
  targets: readonly Target[],
  built: Readonly<Record<string, string>>,
) => {
  const folder = mkdtempSync('dist/script-')
  try {
    const script = join(folder, 'chainsieve.cjs')
    await build({
      ...common,
      outfile: script,
      format: 'cjs',
      target: 'node24',
      define: { ...common.define, 'import.meta.url': 'executableUrl' },
      banner: { js: "const executableUrl = require('node:url').pathToFileURL(process.execPath).href;" },
      plugins: [
        {
          name: 'native code from assets',
          setup: ({ onResolve }) =>
            onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
              importer.includes('better-sqlite3') ? { path: resolve('src/lib/runtime.ts') } : undefined,
            ),
        },
      ],
    })
    const main = join(folder, 'main.cjs')
    writeFileSync(main, FROM_ASSETS)
    const data = Object.fromEntries(globSync('data/*.{txt,json,gz,bin}').map(file => [basename(file), file]))
    for (const { platform, output } of targets) {
      const assets = {
        ...data,
        ...built,
        'console.pack': PACK,
        'better_sqlite3.node': `node_modules/better-sqlite3/prebuilds/${PLATFORMS[platform].prebuild}.node`,
        [PLATFORMS[platform].extension]: vectorsFor(platform),
      }
      const program = makeProgramAssets(script, platform, assets)
      makeExecutable({ platform, script: main, assets: { ...assets, ...program }, output })
      console.log(`${output}${platform === native ? '' : `: ${untested(platform)}`}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What its user has to know of an executable that was made on another platform. */
const untested = (platform: Platform): string => {
  const text = 'made on another platform, and not run here; its format and its parts were checked'
  return platform.startsWith('darwin') && process.platform !== 'darwin'
    ? `${text}. macOS runs it once it is signed there: codesign --sign - --force chainsieve`
    : text
}

import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { installedVectors, VECTORS } from '../../src/lib/runtime.ts'
import { makeExecutable, makeWorkerAssets } from './make.ts'

/** Makes one file of a program, which is `src/main.ts` or a part of it, for the platform that this runs on. */
export const buildExecutable = async (options: BuildOptions, output: string) => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const wanted = optionalDependencies[`node-${process.platform}-${process.arch}`]
  if (wanted !== process.versions.node)
    throw new Error(
      `The executable embeds the Node that builds it, which is ${process.versions.node} and not ${wanted}: run npm run build:executable after npm ci`,
    )
  const folder = mkdtempSync(`${output}-script-`)
  try {
    const script = join(folder, 'chainsieve.cjs')
    await build({
      ...options,
      outfile: script,
      format: 'cjs',
      target: 'node24',
      charset: 'ascii',
      define: { ...options.define, 'import.meta.url': 'executableUrl' },
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
    const { getPrebuildPath } = createRequire(import.meta.url)('../../node_modules/better-sqlite3/lib/binding.js') as {
      getPrebuildPath: () => string
    }
    const data = globSync('data/*.{txt,json,gz,bin}').map(file => [basename(file), file])
    const vectors = installedVectors()
    const worker = makeWorkerAssets(script)
    makeExecutable({
      script,
      assets: {
        ...Object.fromEntries(data),
        'worker.js': worker.source,
        'worker.cache': worker.cache,
        'better_sqlite3.node': getPrebuildPath(),
        ...(vectors === undefined ? {} : { [VECTORS]: vectors }),
      },
      output,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/**
 * `node build.ts` builds `dist/chainsieve.mjs`, main program and worker threads in one file; native packages stay in node_modules.
 * `node build.ts executable` builds `dist/chainsieve`, one file that needs nothing else on its platform.
 */
const { version, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  optionalDependencies: Record<string, string>
}

const common = (form: 'bundle' | 'executable'): BuildOptions => ({
  entryPoints: ['src/main.ts'],
  bundle: true,
  // Half the text to read at each start of a thread; names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  define: { CHAINSIEVE_FORM: JSON.stringify(form), CHAINSIEVE_VERSION: JSON.stringify(version) },
  legalComments: 'none',
  logLevel: 'warning',
})

const buildBundle = async () => {
  await build({
    ...common('bundle'),
    outfile: 'dist/chainsieve.mjs',
    format: 'esm',
    target: 'node22',
    external: ['better-sqlite3'],
    // Bundled CommonJS packages call require(); an ES module has none of its own.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })
  // Without the executable bit npx says "Permission denied".
  chmodSync('dist/chainsieve.mjs', 0o755)
}

const buildExecutable = async () => {
  const { makeExecutable, makeWorkerAssets } = await import('./scripts/executable/make.ts')
  const wanted = optionalDependencies[`node-${process.platform}-${process.arch}`]
  if (wanted !== process.versions.node)
    throw new Error(
      `The executable embeds the Node that builds it, which is ${process.versions.node} and not ${wanted}: run npm run build:executable after npm ci`,
    )
  const folder = mkdtempSync('dist/script-')
  try {
    const script = join(folder, 'chainsieve.cjs')
    const options = common('executable')
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
    const { getPrebuildPath } = createRequire(import.meta.url)('./node_modules/better-sqlite3/lib/binding.js') as {
      getPrebuildPath: () => string
    }
    const data = globSync('data/*.{txt,json,gz,bin}').map(file => [basename(file), file])
    const worker = makeWorkerAssets(script)
    makeExecutable({
      script,
      assets: {
        ...Object.fromEntries(data),
        'worker.js': worker.source,
        'worker.cache': worker.cache,
        'better_sqlite3.node': getPrebuildPath(),
      },
      output: 'dist/chainsieve',
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

await (process.argv[2] === 'executable' ? buildExecutable() : buildBundle())

import { chmodSync, readFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'

/**
 * `node build.ts` builds `dist/chainsieve.mjs`, main program and worker threads in one file; native packages stay in node_modules.
 * `node build.ts executable` builds `dist/chainsieve`, one file that needs nothing else on its platform.
 */
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

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
    external: ['better-sqlite3', 'sqlite-vec'],
    // Bundled CommonJS packages call require(); an ES module has none of its own.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })
  // Without the executable bit npx says "Permission denied".
  chmodSync('dist/chainsieve.mjs', 0o755)
}

if (process.argv[2] === 'executable') {
  const { buildExecutable } = await import('./scripts/executable/build.ts')
  await buildExecutable(common('executable'), 'dist/chainsieve')
} else await buildBundle()

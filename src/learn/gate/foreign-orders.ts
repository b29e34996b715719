/** Instructions that no lesson may contain, in other languages than English; for normalized text. */
const INSTRUCTIONS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    'it tells its reader to set other instructions aside',
    /\b(?:ignorier\w*|missachte\w*|ubergeh\w*)\b.{0,60}\b(?:anweisung|regel|vorgabe|richtlinie)|\b(?:ignor\w+|oubli\w+|outrepass\w+)\b.{0,60}\b(?:instructions|consignes?|regles?|directives?)\b|\b(?:ignor\w+|olvid\w+|omit\w+)\b.{0,60}\b(?:instruccion\w*|reglas?|directrices|instruco\w*|regras?|diretrizes)|\b(?:ignora\w*|dimentica\w*)\b.{0,60}\b(?:istruzion\w*|regol\w*)|(?:忽略|无视|無視|不要理会).{0,20}(?:指令|规则|提示|说明|要求|指示)|指示を無視|(?:игнорир|забуд)\S*.{0,60}(?:инструкц|правил|указани)/,
  ],
  [
    'it tells its reader to keep something from people',
    /\b(?:nicht|ohne|niemals|nie)\b.{0,60}\b(?:erwahn\w*|mitteil\w*|sag\w*|informier\w*|zeig\w*|melde\w*|verrat\w*)|\b(?:nutzer|benutzer|anwender)\w*\b.{0,40}\b(?:nicht|nichts|ohne)\b|\bheimlich|\bunauffallig|\b(?:ne|sans|jamais)\b.{0,60}\b(?:mentionn\w*|informer?|dire|prevenir|signaler|reveler)\b|\b(?:discretement|en secret|a l'insu)\b|\b(?:no|sin|nunca|nao|sem)\b.{0,60}\b(?:mencion\w*|inform\w*|avis\w*|revel\w*|diga\w*|decir\w*|contar\w*)\b|\b(?:en secreto|em segredo|sin que|sem que)\b|(?:不要|别|勿|不得|无需|不必).{0,12}(?:告诉|提及|告知|通知|透露|提到|询问|提醒)|(?:悄悄|暗中|秘密)|(?:ユーザー|利用者).{0,20}(?:知らせ|伝え|言わ)(?:ない|ず)|(?:не)\s.{0,40}(?:сообща|говор|упомина|информир|раскрыва)|тайно|незаметно/,
  ],
  [
    'it tells its reader to pass something on or to contact someone',
    /\b(?:send|schick|ubermittl|leite|weiterleit|mail|lad|hochlad|kopier)\w*\b.{0,80}\b(?:an|zu|nach|hoch|weiter)\b.{0,60}|\b(?:envo\w+|transmet\w*|transfer\w*|telecharg\w*|televers\w*|partag\w*)\b.{0,80}\b(?:a|au|aux|vers|sur)\b|\b(?:envi\w+|reenvi\w+|mand\w+|sub\w+|compart\w+|transfier\w*|encaminh\w*|copi\w+)\b.{0,80}\b(?:a|al|para|ao|con|com)\b.{0,60}\b(?:correo|servidor|direccion|cuenta|email|e-mail|endereco|conta|equipo|equipe|soporte|suporte|extern\w*)|(?:发送|发给|上传|转发|抄送|邮件|汇报|联系|送信|転送|アップロード)|(?:отправ|перешл|загруз|скопир|сообщ)\S*.{0,60}(?:на|по|в адрес|копи)/,
  ],
  [
    'it tells its reader what to do with credentials',
    /\b(?:passwor[td]\w*|kennwort|zugangsdaten|zugangsschlussel|geheimnis\w*|api-schlussel|mots? de passe|identifiants|cles? (?:api|privees?|d'acces)|contrasen\w*|credenciales|claves? (?:api|privadas?|de acceso)|senhas?|credenciais|chaves? (?:de )?(?:api|acesso))\b|密码|口令|密钥|凭证|令牌|パスワード|認証情報|秘密鍵|парол|учетны|ключ(?:и|ей)? (?:api|доступа)|비밀번호|كلمة المرور/,
  ],
  [
    'it tells its reader to switch a protection or a check off',
    /\b(?:deaktivier|abschalt|schalt\w*\b.{0,40}\baus|uberspring|umgeh|auslass)\w*\b|\b(?:desactiv\w*|contourn\w*|saut\w*|ignor\w*)\b.{0,40}\b(?:tests?|verification\w*|controle\w*|securite|certificat\w*|validation\w*|revue)\b|\b(?:desactiv\w*|desativ\w*|omit\w*|salt\w*|pul\w*|evit\w*)\b.{0,40}\b(?:pruebas?|verificacion\w*|seguridad|controles?|certificad\w*|revision\w*|validacion\w*|testes?|seguranca|verificacao|revisao)\b|(?:关闭|禁用|跳过|绕过|停用).{0,16}(?:测试|验证|检查|校验|安全|审查|确认|日志|证书)|(?:無効|スキップ|省略).{0,16}|(?:отключ|пропус|обойд)\S*.{0,40}(?:провер|тест|защит|безопасн|сертификат)/,
  ],
];

/** Text in another script, or with function words of another language. */
const NOT_ENGLISH =
  /[\u0370-\u1fff\u2c00-\uffff]|\b(?:und|oder|nicht|immer|niemals|bevor|nutzer|les|des|une|toujours|jamais|avant|los|las|siempre|nunca|antes|para|sempre|uma|nao|gli|della|prima|niet|altijd)\b/;

/** Reasons against a normalized sentence that is not English. */
export const findForeignOrders = (sentence: string): readonly string[] =>
  NOT_ENGLISH.test(sentence)
    ? INSTRUCTIONS.filter(([, pattern]) => pattern.test(sentence)).map(([why]) => why)
    : [];
